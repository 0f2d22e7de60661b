/** A revert in git of a rollout in every state, while the Defender lets nothing else begin. */
import { describe, expect, it } from 'vitest';
import { BRAKES } from './simulation/brakes.ts';
import { type Brake, type DefendedFleet, DefendedLedger } from './simulation/defended-ledger.ts';
import { RolloutSimulation } from './simulation/rollout-simulation.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const REVERTING = {
  machines: 8,
  installed: '1',
  rollout: {
    batches: [1, 2, 4],
    maxUnavailable: 4,
    failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' },
  },
} as const;

/** What a rollout of version 2 is at when git takes it back. */
const BEFORE_REVERT: Readonly<Record<string, (sim: RolloutSimulation) => void>> = {
  'a machine is in work': (sim) => sim.run(20),
  'the first batch soaks': (sim) => sim.run(2 * MINUTE),
  'the second batch is in work': (sim) => sim.run(6 * MINUTE + 30),
  'it completed': (sim) => sim.run(2 * HOUR),
  'it is paused': (sim) => {
    sim.run(8 * MINUTE);
    sim.edit({ paused: true });
    sim.run(MINUTE);
    sim.edit({ paused: false });
  },
  'it stopped with a failure': (sim) => {
    sim.run(8 * MINUTE);
    sim.behaviorOf = (ref) => (ref === 'app-2' ? 'Late' : 'Good');
    sim.run(20 * MINUTE);
  },
};

function braked(brake: Brake, before: (sim: RolloutSimulation) => void, version: string): RolloutSimulation {
  let ledger: DefendedLedger | undefined;
  const createLedger = (fleet: DefendedFleet): DefendedLedger => (ledger = new DefendedLedger(fleet));
  const sim = new RolloutSimulation({ ...REVERTING, createLedger });
  sim.version('2');
  before(sim);
  Object.assign(ledger ?? {}, { brake });
  sim.version(version);
  sim.run(HOUR);
  return sim;
}

describe('a revert in git', () => {
  const states = Object.entries(BEFORE_REVERT).map(([state, before]) => ({ state, before }));
  const rows = Object.entries(BRAKES).flatMap(([reason, brake]) =>
    states.map((each) => ({ reason, brake, ...each })),
  );

  it.each(rows)(
    'ROL-33 takes every machine back that was started, and no other, whatever brakes: $reason, while $state',
    ({ brake, before }) => {
      const sim = braked(brake, before, '1');
      expect(sim.summary()).toBe('8 run app-1; grants in work: 0');
      const started = sim.lines.flatMap((line) => / (m-\d) -> app-2/.exec(line)?.[1] ?? []);
      const returned = sim.lines.flatMap((line) => / (m-\d) -> app-1/.exec(line)?.[1] ?? []);
      expect(returned.toSorted()).toEqual(started.toSorted());
      expect(started.length).toBeGreaterThan(0);
      expect(sim.progress.history[0]).toMatchObject({ result: 'Completed', components: ['app-1'] });
    },
  );

  it.each(Object.entries(BRAKES))(
    'ROL-33 is what passes: another version starts nothing under %s',
    (reason, brake) => {
      const sim = braked(brake, (each) => each.run(2 * HOUR), '3');
      expect(sim.summary()).toBe('8 run app-2; grants in work: 0');
      expect(sim.lines.filter((line) => line.includes(' denied ')).join()).toContain(`: ${reason}`);
    },
  );

  it('ROL-33 does not pass the kill switch', () => {
    const killSwitch = { engaged: true, scope: 'All', by: 'ann', reason: 'storm' } as const;
    const sim = braked({ policy: { killSwitch } }, (each) => each.run(2 * HOUR), '1');
    expect(sim.summary()).toBe('8 run app-2; grants in work: 0');
  });
});
