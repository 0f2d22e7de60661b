/**
 * One machine that is drained for a new version, with the planners of both controllers and a simulated agent: whatever is paused,
 * deleted or killed on the way, no cordon of a grant stays, and a person's cordon does.
 */
import { describe, expect, it } from 'vitest';
import { slice } from '../support/sweep-size.ts';
import { DrainSimulation, REQUEUE_MS, type Run } from './drain-simulation.ts';

const ACTS: Readonly<Record<string, (sim: DrainSimulation, when: 'Begin' | 'End') => void>> = {
  nothing: () => undefined,
  'pause for good': (sim) => {
    sim.isPaused = true;
  },
  'pause and resume': (sim, when) => {
    sim.isPaused = when === 'Begin';
  },
  'delete the set': (sim) => {
    sim.isSetDeleted = true;
  },
  'revert in git': (sim) => {
    sim.isReverted = true;
  },
  'fail elsewhere': (sim) => {
    sim.hasFailedElsewhere = true;
  },
  'kill the rollout controller': (sim, when) => {
    sim.isRolloutKilled = when === 'Begin';
  },
  'kill the machine controller': (sim, when) => {
    sim.isMachineControllerKilled = when === 'Begin';
  },
  'kill both, and delete the set meanwhile': (sim, when) => {
    sim.isRolloutKilled = when === 'Begin';
    sim.isMachineControllerKilled = when === 'Begin';
    sim.isSetDeleted = true;
  },
  'kill both, and pause the set meanwhile': (sim, when) => {
    sim.isRolloutKilled = when === 'Begin';
    sim.isMachineControllerKilled = when === 'Begin';
    sim.isPaused = true;
  },
};

interface EndingAct extends Pick<Run, 'onFailure'> {
  readonly act: keyof typeof ACTS;
  /** Ticks without a controller; the minute begins when it is back. */
  readonly away?: number;
}

/** After which nothing of the update may stay in work. */
const ENDING_ACTS: readonly EndingAct[] = [
  { act: 'pause for good' },
  { act: 'delete the set' },
  { act: 'revert in git' },
  { act: 'fail elsewhere', onFailure: 'Pause' },
  { act: 'fail elsewhere', onFailure: 'RollbackBatch' },
  { act: 'kill both, and delete the set meanwhile', away: 6 },
  { act: 'kill both, and delete the set meanwhile', away: 80 },
  { act: 'kill both, and pause the set meanwhile', away: 6 },
  { act: 'kill both, and pause the set meanwhile', away: 80 },
];

function goesBack({ act, onFailure }: EndingAct): boolean {
  return act === 'revert in git' || onFailure === 'RollbackBatch';
}

/** The act at that tick, and the minute after it. */
function playMinute(run: Run, { act, away = 0 }: EndingAct, at: number): DrainSimulation {
  const sim = new DrainSimulation({ ...run, tickMs: REQUEUE_MS });
  runTicks(sim, at);
  ACTS[act]?.(sim, 'Begin');
  runTicks(sim, away);
  ACTS[act]?.(sim, 'End');
  runTicks(sim, MINUTE);
  return sim;
}

function runTicks(sim: DrainSimulation, count: number): void {
  for (let tick = 0; tick < count; tick += 1) sim.tick();
}

/** In ticks. */
const MINUTE = 60_000 / REQUEUE_MS;

/** Over hours: what ends a cordon only after the time limit of an update. */
const LONG_ACTS = [
  'nothing',
  'pause for good',
  'pause and resume',
  'delete the set',
  'kill the rollout controller',
  'kill the machine controller',
  'kill both, and delete the set meanwhile',
];

const STATES = 12;
/** Hours take a hundred ticks from each state. */
const STATES_OF_HOURS = slice(
  Array.from({ length: STATES }, (_, index) => index),
  3,
);
/** Longer than a grant lives. */
const AWAY = 14;
/** Longer than an update may take. */
const REST = 80;

/** The act at that tick; what was killed or paused comes back after a while. */
function play(run: Run, act: string, at: number): DrainSimulation {
  const sim = new DrainSimulation(run);
  for (let tick = 0; tick < at + AWAY + REST; tick += 1) {
    if (tick === at) ACTS[act]?.(sim, 'Begin');
    if (tick === at + AWAY) ACTS[act]?.(sim, 'End');
    sim.tick();
  }
  return sim;
}

const RUNS = (['Good', 'Bad', 'Hangs', 'NeverDrains'] as const).flatMap((outcome) =>
  [false, true].map((isCordonedBefore) => ({ outcome, isCordonedBefore })),
);

describe('a machine that is drained for a rollout', () => {
  it.each(LONG_ACTS.flatMap((act) => RUNS.map((run) => ({ act, ...run }))))(
    'ROL-35 has no forgotten cordon in any state: $act, $outcome, cordoned before: $isCordonedBefore',
    ({ act, ...run }) => {
      for (const at of STATES_OF_HOURS) {
        const sim = play(run, act, at);
        // Its activation hangs while a pause keeps it from going back: it has failed, and is named.
        if (sim.failed && sim.state.startsWith('Activating')) continue;
        const { cordoned, ours } = sim.end;
        const found = `${at}: ${sim.state} ${JSON.stringify({ cordoned, ours })}`;
        expect(found).toBe(
          `${at}: ${sim.state} ${JSON.stringify({ cordoned: run.isCordonedBefore, ours: false })}`,
        );
      }
    },
  );

  it.each(['RollbackBatch', 'Pause'] as const)(
    'ROL-52 names the budget of a drain that never ends, past the time limit and for good: %s',
    (onFailure) => {
      const sim = play({ outcome: 'NeverDrains', isCordonedBefore: false, onFailure }, 'nothing', 0);
      expect(sim.wasDrained).toBe(false);
      expect(sim.stalled).toMatch(/^True (RolledBack|FailureBudgetSpent): /);
      expect(sim.stalled).toContain('its drain waits for PodDisruptionBudget web: 1 pods left');
      expect(sim.end).toEqual({ cordoned: false, ours: false, drain: false, grants: 0 });
    },
  );

  it.each(
    ENDING_ACTS.flatMap((ending) =>
      RUNS.filter(({ outcome }) => outcome !== 'Hangs' || goesBack(ending)).map((run) => ({
        ...ending,
        ...run,
      })),
    ),
  )(
    'ROL-35 has no cordon left 60 s later, in any state: $act, $onFailure, $outcome, cordoned before: $isCordonedBefore',
    ({ act, away = 0, ...run }) => {
      for (let at = 1; at < STATES; at += 1) {
        const sim = playMinute(run, { act, away }, at);
        const end = { cordoned: run.isCordonedBefore, ours: false, drain: false, grants: 0 };
        expect(`${at}: ${sim.state} ${JSON.stringify(sim.end)}`).toBe(
          `${at}: ${sim.state} ${JSON.stringify(end)}`,
        );
        expect(sim.state).not.toContain('Activating');
      }
    },
  );

  it.each(
    ENDING_ACTS.filter((ending) => !goesBack(ending)).flatMap((ending) =>
      [false, true].map((isCordonedBefore) => ({ ...ending, isCordonedBefore })),
    ),
  )(
    'ROL-35 names what hangs in its activation, and has no cordon left 60 s after that ends: $act, $away, cordoned before: $isCordonedBefore',
    ({ act, away = 0, ...more }) => {
      const run = { ...more, outcome: 'Hangs' } as const;
      const inWork = { cordoned: true, ours: !run.isCordonedBefore, drain: true, grants: 1 };
      for (let at = 1; at < STATES; at += 1) {
        const sim = playMinute(run, { act, away }, at);
        expect(`${sim.state} ${JSON.stringify(sim.end)}`).toBe(
          `Activating Drained ${JSON.stringify(inWork)}`,
        );
        runTicks(sim, 15 * MINUTE);
        expect(sim.end).toEqual(inWork);
        // Of a deleted set there is only the status of the Machine, with its drain.
        const name = sim.isSetDeleted ? undefined : 'TimedOut: not settled after 900 s: app is Activating';
        expect(sim.named).toBe(name);
        sim.outcome = 'Good';
        runTicks(sim, MINUTE);
        expect(sim.end).toEqual({ cordoned: run.isCordonedBefore, ours: false, drain: false, grants: 0 });
      }
    },
  );

  it('ROL-35 drains again when the set is resumed after its drain was given up', () => {
    const sim = new DrainSimulation({
      outcome: 'NeverDrains',
      isCordonedBefore: false,
      tickMs: REQUEUE_MS,
    });
    runTicks(sim, 6);
    sim.isPaused = true;
    runTicks(sim, 12);
    expect(sim.end).toMatchObject({ ours: false, grants: 0 });
    sim.isPaused = false;
    runTicks(sim, 4);
    expect(sim.end).toMatchObject({ cordoned: true, ours: true, grants: 1 });
  });

  it.each(['Good', 'Bad'] as const)('ROL-35 was drained, and holds no grant at the end: %s', (outcome) => {
    const sim = play({ outcome, isCordonedBefore: false }, 'nothing', 0);
    expect(sim.wasDrained).toBe(true);
    expect(sim.end).toEqual({ cordoned: false, ours: false, drain: false, grants: 0 });
  });
});
