/** Whole rollouts, each played in order and with machines of random speed. */
import type { Check, Rollout } from '../../../../src/api/generated/types.ts';
import { askingCheck } from '../rollout/rollout-input.ts';
import type { RolloutSimulation, SimulationParts } from './rollout-simulation.ts';

export interface RolloutStory {
  readonly name: string;
  readonly sim: SimulationParts;
  readonly play: (sim: RolloutSimulation) => void;
  /** How it ends, also with machines of random speed. */
  readonly end: string;
  /** Something happens at a fixed time, so that another speed may have another end. */
  readonly dependsOnSpeed?: true;
}

type OnFailure = Rollout['failure']['onFailure'];

const MINUTE = 60;
const HOUR = 3600;
const SMALL = { batches: [1, 2, 4] };
const EIGHT: SimulationParts = { machines: 8, installed: '1', rollout: { ...SMALL, maxUnavailable: 4 } };

function withRollout(rollout: SimulationParts['rollout'], sim: SimulationParts = EIGHT): SimulationParts {
  return { ...sim, rollout: { ...sim.rollout, ...rollout } };
}

function withChecks(checks: readonly Check[], onFailure: OnFailure = 'RollbackBatch'): SimulationParts {
  const gate = { soakSeconds: 300, checks: [...checks], approval: 'None' } as const;
  return withRollout({ gate, failure: { maxFailed: 0, per: 'Rollout', onFailure } });
}

/** On every machine but the first ones of the order. */
function failsAfter(
  sim: RolloutSimulation,
  count: number,
  behavior: 'Fails' | 'Hangs' | 'Late' = 'Fails',
): void {
  const good = new Set<string>();
  sim.behaviorOf = (ref, machine) => {
    if (ref !== 'app-2') return 'Good';
    if (good.size < count) good.add(machine);
    return good.has(machine) ? 'Good' : behavior;
  };
}

const ALL_OLD = '8 run app-1; grants in work: 0';
const ALL_NEW = '8 run app-2; grants in work: 0';

export const STORIES: readonly RolloutStory[] = [
  {
    name: 'a good version in batches of 1, 5, 10 and the rest',
    sim: { machines: 20, installed: '1', rollout: { batches: [1, 5, 10, 50], maxUnavailable: '50%' } },
    play: (sim) => {
      sim.version('2');
      sim.run(HOUR);
    },
    end: '20 run app-2; grants in work: 0',
  },
  {
    name: 'the first version of a new set',
    sim: { machines: 8, rollout: SMALL },
    play: (sim) => {
      sim.version('2');
      sim.run(3 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'the first version of a new set fails and stops',
    sim: { machines: 8, rollout: SMALL },
    play: (sim) => {
      sim.behaviorOf = () => 'Fails';
      sim.version('2');
      sim.run(HOUR);
    },
    end: '8 run -; grants in work: 0',
  },
  {
    name: 'a canary that waits for approval',
    sim: withRollout({
      canary: { machineSelector: { all: false, matchLabels: { canary: 'true' } }, count: 1, hold: true },
    }),
    play: (sim) => {
      sim.machine('m-5').labels = { canary: 'true' };
      sim.version('2');
      sim.run(HOUR);
      const approved = { revision: sim.progress.updateRevision ?? '', throughBatch: 0 };
      sim.say('a person approves');
      sim.edit({ rollout: { ...sim.set.spec.rollout, approved } });
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a canary that waits for approval, and is reverted',
    sim: withRollout({
      canary: { machineSelector: { all: false, matchLabels: { canary: 'true' } }, count: 1, hold: true },
    }),
    play: (sim) => {
      sim.machine('m-5').labels = { canary: 'true' };
      sim.version('2');
      sim.run(20 * MINUTE);
      sim.version('1');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a canary that fails and goes back',
    sim: withRollout({
      canary: { machineSelector: { all: false, matchLabels: { canary: 'true' } }, count: 1, hold: false },
    }),
    play: (sim) => {
      sim.machine('m-5').labels = { canary: 'true' };
      sim.behaviorOf = (ref) => (ref === 'app-2' ? 'Fails' : 'Good');
      sim.version('2');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a canary whose agent is silent: no other machine is touched',
    sim: withRollout({
      canary: { machineSelector: { all: false, matchLabels: { canary: 'true' } }, count: 1, hold: false },
    }),
    play: (sim) => {
      sim.machine('m-5').labels = { canary: 'true' };
      sim.machine('m-5').isSilent = true;
      sim.run(MINUTE);
      sim.version('2');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'the second batch fails and rolls back',
    sim: EIGHT,
    play: (sim) => {
      failsAfter(sim, 1);
      sim.version('2');
      sim.run(HOUR);
    },
    end: '1 run app-2, 7 run app-1; grants in work: 0',
  },
  {
    name: 'the second batch fails and all machines roll back',
    sim: withRollout({ failure: { maxFailed: 0, per: 'Rollout', onFailure: 'RollbackAll' } }),
    play: (sim) => {
      failsAfter(sim, 1);
      sim.version('2');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'the second batch fails and waits for a person',
    sim: withRollout({ failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } }),
    play: (sim) => {
      failsAfter(sim, 2);
      sim.version('2');
      sim.run(HOUR);
    },
    end: '2 run app-2, 6 run app-1; grants in work: 0',
  },
  {
    name: 'the second batch fails and only the failed machines roll back',
    sim: withRollout({ failure: { maxFailed: 0, per: 'Rollout', onFailure: 'RollbackFailed' } }),
    play: (sim) => {
      failsAfter(sim, 2);
      sim.version('2');
      sim.run(HOUR);
    },
    end: '2 run app-2, 6 run app-1; grants in work: 0',
  },
  {
    name: 'one failure within the budget',
    sim: withRollout({ failure: { maxFailed: 1, per: 'Rollout', onFailure: 'RollbackAll' } }),
    play: (sim) => {
      sim.behaviorOf = (ref, machine) => (ref === 'app-2' && machine === 'm-5' ? 'Fails' : 'Good');
      sim.version('2');
      sim.run(2 * HOUR);
    },
    end: '1 run app-1, 7 run app-2; grants in work: 0',
  },
  {
    name: 'a version that breaks its Node during the soak',
    sim: EIGHT,
    play: (sim) => {
      failsAfter(sim, 1, 'Late');
      sim.version('2');
      sim.run(HOUR);
    },
    end: '1 run app-2, 7 run app-1; grants in work: 0',
  },
  {
    name: 'a version that never ends its probation',
    sim: EIGHT,
    play: (sim) => {
      failsAfter(sim, 1, 'Hangs');
      sim.version('2');
      sim.run(HOUR);
    },
    end: '1 run app-2, 7 run app-1; grants in work: 0',
  },
  {
    name: 'a revert in git in the middle of a rollout',
    sim: EIGHT,
    play: (sim) => {
      sim.version('2');
      sim.run(13 * MINUTE);
      sim.version('1');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a revert in git of a version that completed',
    sim: EIGHT,
    play: (sim) => {
      sim.version('2');
      sim.run(2 * HOUR);
      sim.version('1');
      sim.run(30 * MINUTE);
    },
    end: ALL_OLD,
  },
  {
    name: 'an edit in the middle of a rollout',
    sim: EIGHT,
    play: (sim) => {
      sim.version('2');
      sim.run(8 * MINUTE);
      sim.version('3');
      sim.run(2 * HOUR);
    },
    end: '8 run app-3; grants in work: 0',
  },
  {
    name: 'a version that comes back while machines of both are in work',
    sim: EIGHT,
    play: (sim) => {
      sim.version('2');
      sim.run(40);
      sim.version('3');
      sim.run(10);
      sim.version('2');
      sim.run(2 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a version that broke a Node while it was replaced fails when it comes back',
    sim: EIGHT,
    dependsOnSpeed: true,
    play: (sim) => {
      sim.behaviorOf = (ref) => (ref === 'app-2' ? 'Late' : 'Good');
      sim.version('2');
      sim.run(110);
      sim.version('3');
      sim.run(20);
      sim.version('2');
      sim.run(HOUR);
    },
    end: '1 run app-3, 7 run app-1; grants in work: 0',
  },
  {
    name: 'a version that comes back when every machine has it soaks again',
    sim: { machines: 1, installed: '1', rollout: { batches: [1] } },
    play: (sim) => {
      sim.version('2');
      sim.run(20);
      sim.version('3');
      sim.run(10);
      sim.version('2');
      sim.run(HOUR);
    },
    end: '1 run app-2; grants in work: 0',
  },
  {
    name: 'a pause in the middle of a soak',
    sim: EIGHT,
    play: (sim) => {
      sim.version('2');
      sim.run(4 * MINUTE);
      sim.say('paused');
      sim.edit({ paused: true });
      sim.run(HOUR);
      sim.say('resumed');
      sim.edit({ paused: false });
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a pause while machines are in work',
    sim: EIGHT,
    play: (sim) => {
      sim.version('2');
      sim.run(20);
      sim.edit({ paused: true });
      sim.run(HOUR);
    },
    end: '1 run app-2, 7 run app-1; grants in work: 0',
  },
  {
    name: 'an agent that is silent for some minutes in its soak',
    sim: EIGHT,
    play: (sim) => {
      sim.version('2');
      sim.run(2 * MINUTE);
      const [first] = [...sim.machines.values()].filter(({ runs }) => runs === 'app-2');
      if (first) first.isSilent = true;
      sim.run(5 * MINUTE);
      if (first) first.isSilent = false;
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a machine that a person holds, and releases later',
    sim: EIGHT,
    play: (sim) => {
      sim.machine('m-2').hold = 'debugging';
      sim.version('2');
      sim.run(HOUR);
      sim.say('m-2 is released');
      sim.machine('m-2').hold = undefined;
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'machines that join and leave in the middle of a rollout',
    sim: EIGHT,
    play: (sim) => {
      sim.version('2');
      sim.run(8 * MINUTE);
      sim.say('m-9 joins, m-1 is deleted');
      sim.join('m-9');
      sim.machines.delete('m-1');
      sim.run(2 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'one machine out of service at a time',
    sim: withRollout({ maxUnavailable: 1, gate: { soakSeconds: 0, checks: [], approval: 'None' } }),
    play: (sim) => {
      sim.version('2');
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a machine that is already out of service goes first',
    sim: withRollout({ maxUnavailable: 1 }),
    play: (sim) => {
      sim.machine('m-7').setReady(false, sim.now);
      sim.version('2');
      sim.run(2 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a Defender that denies everything for an hour',
    sim: EIGHT,
    play: (sim) => {
      sim.ledger.denialReason = () => 'KillSwitch: stopped by alice';
      sim.version('2');
      sim.run(HOUR);
      sim.say('the kill switch is off');
      sim.ledger.denialReason = () => undefined;
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a repair that is in work on a machine',
    sim: EIGHT,
    play: (sim) => {
      const job = { kind: 'RemedyOperationJob', name: 'job-1' } as const;
      const act = {
        machine: 'm-3',
        action: 'Reboot',
        risk: 'Node',
        factsAt: sim.now,
        expectedSeconds: 60,
      } as const;
      sim.ledger.ask({ ...act, holder: job }, sim.now);
      sim.version('2');
      sim.run(HOUR);
      sim.say('the repair of m-3 ends');
      sim.ledger.settle('m-3', 'Succeeded');
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a version that never ends is replaced by the next one',
    sim: withRollout({ failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } }),
    play: (sim) => {
      sim.behaviorOf = (ref) => (ref === 'app-2' ? 'Hangs' : 'Good');
      sim.version('2');
      sim.run(HOUR);
      sim.version('3');
      sim.run(2 * HOUR);
    },
    end: '8 run app-3; grants in work: 0',
  },
  {
    name: 'a file that is changed by hand on every machine',
    sim: withRollout({ maxUnavailable: 2 }),
    play: (sim) => {
      sim.run(MINUTE);
      sim.say('someone changes a file of app-1 on every machine');
      for (const each of sim.machines.values()) each.hasDrifted = true;
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a bad version that is tried again with a retry token',
    sim: withRollout({ failure: { maxFailed: 0, per: 'Rollout', onFailure: 'RollbackAll' } }),
    play: (sim) => {
      sim.behaviorOf = (ref) => (ref === 'app-2' ? 'Late' : 'Good');
      sim.version('2');
      sim.run(HOUR);
      sim.behaviorOf = () => 'Good';
      sim.say('retryToken: again');
      sim.edit({ retryToken: 'again' });
      sim.run(2 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a rollout that stopped does not go on when its machines recover, but with a retry token',
    sim: withRollout({ failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } }),
    play: (sim) => {
      failsAfter(sim, 1, 'Late');
      sim.version('2');
      sim.run(HOUR);
      sim.behaviorOf = () => 'Good';
      sim.say('the machines recover');
      sim.run(HOUR);
      sim.say('retryToken: again');
      sim.edit({ retryToken: 'again' });
      sim.run(2 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a version that its agents gave up is tried again with a retry token',
    sim: withRollout({ failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } }),
    play: (sim) => {
      failsAfter(sim, 1);
      sim.version('2');
      sim.run(HOUR);
      sim.behaviorOf = () => 'Good';
      sim.say('retryToken: again');
      sim.edit({ retryToken: 'again' });
      sim.run(2 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a check that fails during the soak of the second batch',
    sim: withChecks([askingCheck('errors')]),
    play: (sim) => {
      sim.version('2');
      sim.run(9 * MINUTE);
      sim.checkResult = 'Failed';
      sim.run(HOUR);
    },
    end: '1 run app-2, 7 run app-1; grants in work: 0',
    dependsOnSpeed: true,
  },
  {
    name: 'a check that fails blames its whole batch also where only failed machines go back',
    sim: withChecks([askingCheck('errors')], 'RollbackFailed'),
    play: (sim) => {
      sim.version('2');
      sim.run(9 * MINUTE);
      sim.checkResult = 'Failed';
      sim.run(HOUR);
    },
    end: '1 run app-2, 7 run app-1; grants in work: 0',
    dependsOnSpeed: true,
  },
  {
    name: 'a check that fails stops a set that does not go back, and a person goes on',
    sim: withChecks([askingCheck('errors')], 'Pause'),
    play: (sim) => {
      sim.checkResult = 'Failed';
      sim.version('2');
      sim.run(HOUR);
      sim.checkResult = 'Passed';
      sim.say('pause, resume');
      sim.edit({ paused: true });
      sim.run(MINUTE);
      sim.edit({ paused: false });
      sim.run(3 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a check without a result stops the rollout and a person goes on',
    sim: withChecks([askingCheck('errors', { inconclusiveLimit: 3 })]),
    play: (sim) => {
      sim.checkResult = 'Unknown';
      sim.version('2');
      sim.run(HOUR);
      sim.checkResult = 'Passed';
      sim.run(HOUR);
      sim.say('pause, resume');
      sim.edit({ paused: true });
      sim.run(MINUTE);
      sim.edit({ paused: false });
      sim.run(3 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a check that has no result for two minutes begins the soak again',
    sim: withChecks([askingCheck('errors', { inconclusiveLimit: 20 })]),
    play: (sim) => {
      sim.version('2');
      sim.run(4 * MINUTE);
      sim.checkResult = 'Unknown';
      sim.run(2 * MINUTE);
      sim.checkResult = 'Passed';
      sim.run(3 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a batch waits after its soak until a check has passed three times in a row',
    sim: withChecks([askingCheck('errors', { failureLimit: 100, consecutiveSuccess: 3 })]),
    play: (sim) => {
      sim.checkResult = 'Failed';
      sim.version('2');
      sim.run(10 * MINUTE);
      sim.checkResult = 'Passed';
      sim.run(3 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a check that compares with the rest is skipped where none is left',
    sim: withChecks([
      askingCheck('errors', { promql: { query: 'a{n=~"${batch}"} / a{n=~"${rest}"}', max: 2 } }),
    ]),
    play: (sim) => {
      sim.version('2');
      sim.run(10 * MINUTE);
      sim.run(3 * HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'an edit of a check in the soak counts from its own runs',
    sim: withChecks([askingCheck('errors')]),
    play: (sim) => {
      sim.version('2');
      sim.run(5 * MINUTE);
      sim.checkResult = 'Failed';
      const { rollout } = sim.set.spec;
      const checks = [
        askingCheck('errors', { http: { url: 'https://app.example.com/', expectStatus: 200 } }),
      ];
      sim.edit({ rollout: { ...rollout, gate: { ...rollout.gate, checks } } });
      sim.run(HOUR);
    },
    end: ALL_OLD,
    dependsOnSpeed: true,
  },
  {
    name: 'a set without a machine',
    sim: { machines: 0, rollout: SMALL },
    play: (sim) => {
      sim.version('2');
      sim.run(MINUTE);
      sim.say('m-1 joins');
      sim.join('m-1');
      sim.run(10 * MINUTE);
    },
    end: '1 run app-2; grants in work: 0',
  },
];
