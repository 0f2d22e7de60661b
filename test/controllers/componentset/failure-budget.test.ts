/** Rollouts of which machines fail, and where they stop. */
import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../src/api/generated/types.ts';
import { RolloutSimulation } from './simulation/rollout-simulation.ts';

interface Run {
  readonly failure: Rollout['failure'];
  readonly maxUnavailable: number;
  readonly machines?: number;
  /** By their number in the order in which they were started, from 1. */
  readonly fails: (started: number) => boolean;
}

/** Of version 2, until it has stopped, and for two minutes more. */
function played({ failure, maxUnavailable, machines = 100, fails }: Run): RolloutSimulation {
  const gate = { soakSeconds: 0, checks: [], approval: 'None' } as const;
  const rollout = { gate, failure, maxUnavailable, batches: [1, 5, 900] };
  const sim = new RolloutSimulation({ machines, installed: '1', rollout });
  const order: string[] = [];
  sim.behaviorOf = (ref, machine) => {
    if (ref !== 'app-2') return 'Good';
    if (!order.includes(machine)) order.push(machine);
    return fails(order.indexOf(machine) + 1) ? 'Fails' : 'Good';
  };
  sim.version('2');
  for (let step = 0; step < MOST_STEPS && !sim.lines.some((line) => STOP.test(line)); step += 1) sim.run(10);
  sim.run(120);
  return sim;
}

/** Of ten seconds. */
const MOST_STEPS = 200;
const STOP = /FailureBudgetSpent|RollingBack/;

function startedOf({ lines }: RolloutSimulation): readonly string[] {
  return lines.filter((line) => line.includes(' -> app-2'));
}

/** Nothing was started after the report that spent the budget. */
function afterStop({ lines }: RolloutSimulation): readonly string[] {
  const stop = lines.findIndex((line) => STOP.test(line));
  return lines.slice(stop).filter((line) => line.includes(' -> app-2') || / batch \d+: /.test(line));
}

const STOPS: Run['failure'] = { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' };
const SEVENTH = { failure: STOPS, maxUnavailable: 10, fails: (started: number): boolean => started === 7 };
/** A machine that failed stays out of service, so that more may be than may fail. */
function failing(
  failure: Partial<Run['failure']>,
  maxUnavailable: number,
  ...failed: readonly number[]
): Run {
  return { failure: { ...STOPS, ...failure }, maxUnavailable, fails: (started) => failed.includes(started) };
}

describe('a rollout of which machines fail', () => {
  it.each<[what: string, run: Run, started: number]>([
    ['the 7th of 1,000 fails', { ...SEVENTH, machines: 1000 }, 16],
    ['the 7th fails, and machines go back', failing({ onFailure: 'RollbackBatch' }, 10, 7), 16],
    ['one at a time', failing({}, 1, 7), 7],
    ['four fail together', failing({}, 4, 7, 8, 9, 10), 10],
    ['two may fail, and four do together', failing({ maxFailed: 2 }, 4, 7, 8, 9, 10), 10],
    ['two may fail', failing({ maxFailed: 2 }, 3, 7, 8, 20), 20],
    ['3 percent of 100 may fail', failing({ maxFailed: '3%' }, 4, 7, 8, 9, 20), 20],
    ['one may fail in the rollout', failing({ maxFailed: 1 }, 3, 3, 7, 20), 8],
    ['two may fail in the rollout', failing({ maxFailed: 2 }, 3, 3, 7, 20), 20],
    ['one may fail in each batch', failing({ maxFailed: 1, per: 'Batch' }, 3, 3, 7, 20), 20],
  ])('ROL-30 touches no further machine: %s', (_what, run, started) => {
    const sim = played(run);
    expect(startedOf(sim)).toHaveLength(started);
    expect(afterStop(sim)).toEqual([]);
  });
});
