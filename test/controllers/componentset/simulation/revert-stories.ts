/** Whole rollouts that go back: reverts in every state, and rollbacks that fail. */
import type { RolloutSimulation, SimulationParts } from './rollout-simulation.ts';
import type { RolloutStory } from './stories.ts';

const MINUTE = 60;
const HOUR = 3600;
const ALL_OLD = '8 run app-1; grants in work: 0';

function eight(onFailure: 'Pause' | 'RollbackAll' = 'RollbackAll'): SimulationParts {
  const failure = { maxFailed: 0, per: 'Rollout', onFailure } as const;
  return { machines: 8, installed: '1', rollout: { batches: [1, 2, 4], maxUnavailable: 4, failure } };
}

/** Version 2 fails on every machine but the first that had it. */
function secondFails(sim: RolloutSimulation): void {
  let first: string | undefined;
  sim.behaviorOf = (ref, machine) => {
    if (ref !== 'app-2') return 'Good';
    first ??= machine;
    return machine === first ? 'Good' : 'Late';
  };
}

export const REVERT_STORIES: readonly RolloutStory[] = [
  {
    name: 'a revert in git of a rollout that is paused',
    sim: eight(),
    play: (sim) => {
      sim.version('2');
      sim.run(15 * MINUTE);
      sim.say('paused');
      sim.edit({ paused: true });
      sim.version('1');
      sim.run(HOUR);
      sim.say('resumed');
      sim.edit({ paused: false });
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a revert in git of a rollout that stopped',
    sim: eight('Pause'),
    play: (sim) => {
      secondFails(sim);
      sim.version('2');
      sim.run(HOUR);
      sim.version('1');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a revert in git in the middle of a rollback',
    sim: eight(),
    play: (sim) => {
      secondFails(sim);
      sim.version('2');
      while (!sim.lines.some((line) => line.includes(' RollingBack: '))) sim.run(10);
      sim.version('1');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a revert in git after a rollback touches nothing',
    sim: eight(),
    play: (sim) => {
      secondFails(sim);
      sim.version('2');
      sim.run(HOUR);
      sim.version('1');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a revert in git of a revert is a revert too',
    sim: eight(),
    play: (sim) => {
      sim.version('2');
      sim.run(2 * HOUR);
      sim.version('1');
      sim.run(HOUR);
      sim.version('2');
      sim.run(HOUR);
    },
    end: '8 run app-2; grants in work: 0',
  },
  {
    name: 'a version that was rolled back is refused, and skips nothing when it is tried again',
    sim: eight(),
    play: (sim) => {
      secondFails(sim);
      sim.version('2');
      sim.run(HOUR);
      sim.behaviorOf = () => 'Good';
      sim.version('3');
      sim.run(2 * HOUR);
      sim.version('2');
      sim.run(HOUR);
      sim.say('retryToken: again');
      sim.edit({ retryToken: 'again' });
      sim.run(2 * HOUR);
    },
    end: '8 run app-2; grants in work: 0',
  },
  {
    name: 'a rollback that fails on a machine ends, and names it',
    sim: eight(),
    play: (sim) => {
      secondFails(sim);
      const { behaviorOf } = sim;
      let first: string | undefined;
      sim.behaviorOf = (ref, machine) => {
        if (ref === 'app-2') first ??= machine;
        return ref === 'app-1' && machine === first ? 'Fails' : behaviorOf(ref, machine);
      };
      sim.version('2');
      sim.run(HOUR);
    },
    end: '1 run app-2, 7 run app-1; grants in work: 0',
  },
];
