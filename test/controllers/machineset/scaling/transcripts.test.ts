/** Whole replacements as transcripts. `UPDATE_GOLDEN=1` rewrites test/golden/machineset; the diff is reviewed like code. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Machine, MachineSet } from '../../../../src/api/generated/types.ts';
import { machineSet, NO_STORM, template } from '../../../support/machine-sets.ts';
import { ReplacementSimulation, type SimulatedTimes } from './replacement-simulation.ts';

const FOLDER = join(import.meta.dirname, '../../../golden/machineset');
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';

type Strategy = Omit<MachineSet['spec']['updateStrategy'], 'type'>;

const SURGE = { maxUnavailable: 0, maxSurge: 1 };
const SETTLE = 300;

function simulated(
  replicas: number,
  strategy: Strategy,
  times: Partial<SimulatedTimes> = {},
): ReplacementSimulation {
  const infra = { provider: 'local', config: { image: 'a' } } as const;
  const updateStrategy = { type: 'Replace', ...strategy } as const;
  const spec = { template: template({ infra }), updateStrategy, stormGuard: NO_STORM, minReadySeconds: 20 };
  return new ReplacementSimulation(machineSet(replicas, { spec }), times);
}

function exceptB(_: string, image: string): number | undefined {
  return image === 'b' ? undefined : 60;
}

function held(machine: Machine): Machine {
  return { ...machine, spec: { ...machine.spec, hold: { reason: 'debugging', scope: 'Disruptive' } } };
}

function asked(machine: Machine): Machine {
  const annotations = { 'kubenode.dev/replace-machine': 'CreateFirst' };
  return { ...machine, metadata: { ...machine.metadata, annotations } };
}

interface Story {
  readonly name: string;
  readonly play: () => ReplacementSimulation;
}

const STORIES: readonly Story[] = [
  { name: 'three machines, one beyond replicas', play: () => changed(simulated(3, SURGE), 1200) },
  { name: 'three machines, one unavailable', play: () => changed(simulated(3, { maxUnavailable: 1 }), 1200) },
  {
    name: 'five machines, two beyond replicas',
    play: () => changed(simulated(5, { maxUnavailable: 0, maxSurge: 2 }), 1200),
  },
  {
    name: 'a revert in the middle',
    play: () => {
      const sim = changed(simulated(3, SURGE), 160);
      sim.template('a');
      sim.run(900);
      return sim;
    },
  },
  {
    name: 'a revert while the first replacement starts',
    play: () => {
      const sim = changed(simulated(3, SURGE), 40);
      sim.template('a');
      sim.run(400);
      return sim;
    },
  },
  {
    name: 'a template whose machines never start, and its revert',
    play: () => {
      const sim = changed(simulated(3, SURGE, { startSeconds: exceptB }), 1500);
      sim.template('a');
      sim.run(600);
      return sim;
    },
  },
  {
    name: 'a machine that is held',
    play: () => {
      const sim = simulated(3, SURGE);
      sim.run(SETTLE);
      sim.edit('m2', held);
      sim.template('b');
      sim.run(900);
      return sim;
    },
  },
  {
    name: 'a machine that a person wants to be replaced',
    play: () => {
      const sim = simulated(3, { maxUnavailable: 1 });
      sim.run(SETTLE);
      sim.edit('m2', asked);
      sim.run(600);
      return sim;
    },
  },
];

function changed(sim: ReplacementSimulation, seconds: number): ReplacementSimulation {
  sim.run(SETTLE);
  sim.template('b');
  sim.run(seconds);
  return sim;
}

describe('the replacement of machines', () => {
  it.each(STORIES)('MAC-32 replaces machines as recorded: $name', ({ name, play }) => {
    const file = join(FOLDER, `${name.replaceAll(/\W+/g, '-')}.txt`);
    const text = `${play().journal.join('\n')}\n`;
    if (UPDATE) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, text);
    }
    expect(text).toBe(readFileSync(file, 'utf8'));
  });

  it('MAC-32 keeps its limits and ends, however long machines take and whatever is reverted', () => {
    const seconds = fc.integer({ min: 10, max: 300 });
    const anyRun = fc.record({
      replicas: fc.integer({ min: 1, max: 6 }),
      maxUnavailable: fc.nat(2),
      maxSurge: fc.nat(3),
      starts: fc.array(seconds, { minLength: 1, maxLength: 8 }),
      leaves: fc.array(seconds, { minLength: 1, maxLength: 8 }),
      edits: fc.array(fc.record({ image: fc.constantFrom('a', 'b', 'c'), after: seconds }), { maxLength: 4 }),
    });
    fc.assert(
      fc.property(anyRun, ({ replicas, maxUnavailable, maxSurge, starts, leaves, edits }) => {
        fc.pre(maxUnavailable + maxSurge > 0);
        let [created, left] = [0, 0];
        const sim = simulated(
          replicas,
          { maxUnavailable, maxSurge },
          {
            startSeconds: () => starts[(created += 1) % starts.length],
            leaveSeconds: () => leaves[(left += 1) % leaves.length] ?? 10,
          },
        );
        sim.run(600);
        const check = (each: ReplacementSimulation): void => {
          expect(each.available()).toBeGreaterThanOrEqual(replicas - maxUnavailable);
          expect(each.count()).toBeLessThanOrEqual(replicas + Math.max(maxSurge, 2));
        };
        for (const { image, after } of edits) {
          sim.template(image);
          sim.run(after, check);
        }
        sim.template('d');
        sim.run(3 * 3600, check);
        expect(sim.images()).toBe(Array.from({ length: replicas }, () => 'd').join(' '));
      }),
      { numRuns: 25 },
    );
  });
});
