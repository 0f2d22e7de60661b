/** Edits in every state of a rollout: versions are replaced in the middle of their batches, and come back. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONG } from '../../support/sweep-size.ts';
import { RolloutSimulation, type SimulationParts } from './simulation/rollout-simulation.ts';

const CANARY = { canary: 'true' };
const HOUR = 3600;

interface Edit {
  readonly version: '2' | '3' | '4';
  /** Until the next one. */
  readonly seconds: number;
}

interface Scenario {
  readonly machines: number;
  readonly batches: number[];
  /** Machines of the canary; 0: the set has none. */
  readonly canaries: number;
  readonly soakSeconds: number;
  readonly maxUnavailable: number;
  /** Seconds that each machine takes to activate a version. */
  readonly speeds: readonly number[];
  readonly edits: readonly Edit[];
}

const edit: fc.Arbitrary<Edit> = fc.record({
  version: fc.constantFrom<Edit['version'][]>('2', '3', '4'),
  seconds: fc.integer({ min: 0, max: 20 }).map((tens) => tens * 10),
});

const scenario: fc.Arbitrary<Scenario> = fc.record({
  machines: fc.integer({ min: 1, max: 5 }),
  batches: fc.constantFrom([1], [1, 2], [2, 1], [1, 3]),
  canaries: fc.integer({ min: 0, max: 2 }),
  soakSeconds: fc.constantFrom(0, 60, 120),
  maxUnavailable: fc.integer({ min: 1, max: 4 }),
  speeds: fc.array(fc.constantFrom(10, 20, 60, 200), { minLength: 5, maxLength: 5 }),
  edits: fc.array(edit, { minLength: 1, maxLength: 6 }),
});

function partsOf({
  machines,
  batches,
  canaries,
  soakSeconds,
  maxUnavailable,
  speeds,
}: Scenario): SimulationParts {
  const gate = { soakSeconds, checks: [], approval: 'None' } as const;
  const machineSelector = { all: false, matchLabels: CANARY };
  const canary = canaries > 0 ? { canary: { machineSelector, count: 1, hold: false } } : {};
  return {
    machines,
    installed: '1',
    rollout: { batches, maxUnavailable, gate, ...canary },
    secondsOf: (machine) => ({ activate: speeds[Number(machine.slice(2)) - 1] ?? 20, prove: 30 }),
  };
}

/** The simulation throws when a promise is broken. */
function played(parts: Scenario): RolloutSimulation {
  const sim = new RolloutSimulation(partsOf(parts));
  for (const each of [...sim.machines.values()].slice(0, parts.canaries)) each.labels = CANARY;
  for (const { version, seconds } of parts.edits) {
    sim.version(version);
    sim.run(seconds);
  }
  sim.run(4 * HOUR);
  return sim;
}

describe('edits of a set', () => {
  it('ROL-05 skip no batch and no soak, and end at the version of the last one', () => {
    fc.assert(
      fc.property(scenario, (parts) => {
        const version = parts.edits.at(-1)?.version ?? '';
        const summary = `${parts.machines} run app-${version}; grants in work: 0`;
        expect(played(parts).summary()).toBe(summary);
      }),
      { numRuns: LONG ? 2000 : 20 },
    );
  });
});
