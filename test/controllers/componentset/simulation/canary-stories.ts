/** Whole rollouts with a canary: it passes, fails, flaps, is never observed, waits, is approved and reverted. */
import type { RolloutSimulation, SimulationParts } from './rollout-simulation.ts';
import type { RolloutStory } from './stories.ts';

const MINUTE = 60;
const HOUR = 3600;
export const CANARY_LABELS = { canary: 'true' };
const ALL_OLD = '8 run app-1; grants in work: 0';
const ALL_NEW = '8 run app-2; grants in work: 0';

interface CanaryParts {
  readonly hold?: boolean;
  readonly count?: number;
  readonly rollout?: SimulationParts['rollout'];
}

function withCanary({ hold = false, count = 1, rollout = {} }: CanaryParts = {}): SimulationParts {
  const canary = { machineSelector: { all: false, matchLabels: CANARY_LABELS }, count, hold };
  return {
    machines: 8,
    installed: '1',
    rollout: { batches: [1, 2, 4], maxUnavailable: 4, ...rollout, canary },
  };
}

/** Machines of the canary; git asks for version 2. */
function begin(sim: RolloutSimulation, ...canaries: readonly string[]): void {
  for (const name of canaries) sim.machine(name).labels = CANARY_LABELS;
  sim.version('2');
}

function approve(sim: RolloutSimulation, throughBatch: number): void {
  const revision = sim.progress.updateRevision ?? '';
  sim.say(`a person approves batch ${throughBatch}`);
  sim.edit({ rollout: { ...sim.set.spec.rollout, approved: { revision, throughBatch } } });
}

export const CANARY_STORIES: readonly RolloutStory[] = [
  {
    name: 'a canary that passes',
    sim: withCanary(),
    play: (sim) => {
      begin(sim, 'm-5');
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a canary in work whose version is replaced and comes back waits for approval',
    sim: withCanary({ hold: true }),
    play: (sim) => {
      begin(sim, 'm-5');
      sim.run(20);
      sim.version('3');
      sim.run(10);
      sim.version('2');
      sim.run(HOUR);
      approve(sim, 0);
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a canary whose Node breaks in its soak goes back',
    sim: withCanary(),
    play: (sim) => {
      sim.behaviorOf = (ref) => (ref === 'app-2' ? 'Late' : 'Good');
      begin(sim, 'm-5');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a canary whose Node flaps in its soak goes back',
    sim: withCanary(),
    play: (sim) => {
      begin(sim, 'm-5');
      sim.run(5 * MINUTE);
      sim.behaviorOf = (ref) => (ref === 'app-2' ? 'Late' : 'Good');
      sim.run(20);
      sim.behaviorOf = () => 'Good';
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a canary whose agent flaps in its soak soaks again each time',
    sim: withCanary(),
    play: (sim) => {
      begin(sim, 'm-5');
      for (let times = 0; times < 4; times += 1) {
        sim.run(5 * MINUTE);
        sim.machine('m-5').isSilent = true;
        sim.run(2 * MINUTE);
        sim.machine('m-5').isSilent = false;
      }
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a canary that never acts on what it was given goes back when it speaks',
    sim: withCanary(),
    play: (sim) => {
      begin(sim, 'm-5');
      sim.reconcile();
      sim.machine('m-5').isSilent = true;
      sim.run(HOUR);
      sim.say('m-5 speaks again');
      sim.machine('m-5').isSilent = false;
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a canary that is in work is reverted',
    sim: withCanary(),
    play: (sim) => {
      begin(sim, 'm-5');
      sim.run(20);
      sim.version('1');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'an approval of one version approves no other',
    sim: withCanary({ hold: true }),
    play: (sim) => {
      begin(sim, 'm-5');
      sim.run(20 * MINUTE);
      approve(sim, 0);
      sim.version('3');
      sim.run(HOUR);
      approve(sim, 0);
      sim.run(HOUR);
    },
    end: '8 run app-3; grants in work: 0',
  },
  {
    name: 'a canary that waits for approval while the set is paused',
    sim: withCanary({ hold: true }),
    play: (sim) => {
      begin(sim, 'm-5');
      sim.run(20 * MINUTE);
      sim.say('paused');
      sim.edit({ paused: true });
      approve(sim, 0);
      sim.run(HOUR);
      sim.say('resumed');
      sim.edit({ paused: false });
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'every batch after the canary waits for approval',
    sim: withCanary({ rollout: { gate: { soakSeconds: 300, checks: [], approval: 'EveryBatch' } } }),
    play: (sim) => {
      begin(sim, 'm-5');
      for (const batch of [0, 1, 2]) {
        sim.run(30 * MINUTE);
        approve(sim, batch);
      }
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a canary of two machines, of which one fails within the budget',
    sim: withCanary({
      count: 2,
      rollout: { failure: { maxFailed: 1, per: 'Rollout', onFailure: 'RollbackAll' } },
    }),
    play: (sim) => {
      sim.behaviorOf = (ref, machine) => (ref === 'app-2' && machine === 'm-5' ? 'Fails' : 'Good');
      begin(sim, 'm-5', 'm-6');
      sim.run(2 * HOUR);
    },
    end: '1 run app-1, 7 run app-2; grants in work: 0',
  },
  {
    name: 'a canary of which every machine fails, within the budget',
    sim: withCanary({ rollout: { failure: { maxFailed: 2, per: 'Rollout', onFailure: 'RollbackAll' } } }),
    play: (sim) => {
      sim.behaviorOf = (ref) => (ref === 'app-2' ? 'Fails' : 'Good');
      begin(sim, 'm-5');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a canary that fails waits for a person',
    sim: withCanary({ rollout: { failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' } } }),
    play: (sim) => {
      sim.behaviorOf = (ref) => (ref === 'app-2' ? 'Fails' : 'Good');
      begin(sim, 'm-5');
      sim.run(HOUR);
    },
    end: ALL_OLD,
  },
  {
    name: 'a canary that a person holds keeps the others waiting',
    sim: withCanary(),
    play: (sim) => {
      sim.machine('m-5').hold = 'debugging';
      begin(sim, 'm-5');
      sim.run(HOUR);
      sim.say('m-5 is released');
      sim.machine('m-5').hold = undefined;
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
  {
    name: 'a canary that matches no machine: the first batch waits for its approval',
    sim: withCanary({ hold: true }),
    play: (sim) => {
      begin(sim);
      sim.run(HOUR);
      approve(sim, 1);
      sim.run(HOUR);
    },
    end: ALL_NEW,
  },
];
