/** Large rollouts of which machines fail: where they stop. */
import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../src/api/generated/types.ts';
import { RolloutSimulation } from './simulation/rollout-simulation.ts';

const MACHINES = 1000;

interface Run {
  readonly rollout: Partial<Rollout>;
  /** By their number in the order in which they were started, from 1. */
  readonly fails: (started: number) => boolean;
}

/** Of version 2, until nothing happens any more. */
function played({ rollout, fails }: Run): RolloutSimulation {
  const sim = new RolloutSimulation({
    machines: MACHINES,
    installed: '1',
    rollout: { gate: { soakSeconds: 0, checks: [], approval: 'None' }, ...rollout },
  });
  const order: string[] = [];
  sim.behaviorOf = (ref, machine) => {
    if (ref !== 'app-2') return 'Good';
    if (!order.includes(machine)) order.push(machine);
    return fails(order.indexOf(machine) + 1) ? 'Fails' : 'Good';
  };
  sim.version('2');
  sim.run(600);
  return sim;
}

function startedOf({ lines }: RolloutSimulation): readonly string[] {
  return lines.filter((line) => line.includes(' -> app-2'));
}

/** Nothing was started after the report that spent the budget. */
function afterStop({ lines }: RolloutSimulation): readonly string[] {
  const stop = lines.findIndex((line) => /FailureBudgetSpent|RollingBack/.test(line));
  return lines.slice(stop).filter((line) => line.includes(' -> app-2') || / batch \d+: /.test(line));
}

type Failure = Rollout['failure'];
const STOPS: Failure = { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' };
const SEVENTH = (started: number): boolean => started === 7;
const FROM_SEVENTH = (started: number): boolean => started >= 7;

describe('a rollout over 1,000 machines', () => {
  it.each<[what: string, failure: Failure, run: Pick<Run, 'fails'> & { most: number }, started: number]>([
    ['one at a time, the 7th fails', STOPS, { fails: SEVENTH, most: 1 }, 7],
    ['ten at a time, the 7th fails', STOPS, { fails: SEVENTH, most: 10 }, 16],
    ['ten at a time, all of them together', STOPS, { fails: FROM_SEVENTH, most: 10 }, 16],
    ['and goes back', { ...STOPS, onFailure: 'RollbackBatch' }, { fails: SEVENTH, most: 10 }, 16],
    ['two may fail', { ...STOPS, maxFailed: 2 }, { fails: FROM_SEVENTH, most: 1 }, 9],
    [
      'two may fail, four do together',
      { ...STOPS, maxFailed: 2 },
      { fails: (n) => n >= 7 && n < 11, most: 4 },
      10,
    ],
    ['0.4 percent may fail', { ...STOPS, maxFailed: '0%' }, { fails: SEVENTH, most: 1 }, 7],
    ['1 percent of all may fail', { ...STOPS, maxFailed: '1%' }, { fails: FROM_SEVENTH, most: 1 }, 17],
    [
      'two may fail in a batch',
      { ...STOPS, per: 'Batch', maxFailed: 2 },
      { fails: FROM_SEVENTH, most: 1 },
      9,
    ],
  ])('ROL-30 touches no further machine: %s', (_what, failure, { fails, most }, started) => {
    const sim = played({ rollout: { batches: [1, 5, 900], maxUnavailable: most, failure }, fails });
    expect(startedOf(sim)).toHaveLength(started);
    expect(afterStop(sim)).toEqual([]);
  });
});
