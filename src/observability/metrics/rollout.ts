/** The metrics of rollouts of component sets. */
import { defineCounter, defineGauge, defineHistogram } from '../../kube/process/metrics.ts';
import { COMPONENTS, CONDITION_REASONS, SET_NAMES } from './limits.ts';

const SERVED = { processes: ['controllers'], writtenIn: 'src/controllers/componentset/metrics.ts' } as const;

export const ROLLOUT_BATCH = defineGauge({
  ...SERVED,
  name: 'rollout_batch',
  help: 'Number of the open batch.',
  labels: { set: SET_NAMES },
});

export const COUNTED_ROLLOUT_STATES = [
  'selected',
  'updated',
  'ready',
  'inProgress',
  'failed',
  'held',
  'pinned',
  'blocked',
] as const;

export const ROLLOUT_MACHINES = defineGauge({
  ...SERVED,
  name: 'rollout_machines',
  help: 'Machines of a set by state.',
  labels: { set: SET_NAMES, state: COUNTED_ROLLOUT_STATES },
  maxSeries: 800,
});

export const ROLLOUT_GATES = defineCounter({
  ...SERVED,
  name: 'rollout_gates_total',
  help: 'Batches whose gate passed, failed or had no result.',
  labels: { set: SET_NAMES, result: ['Passed', 'Failed', 'Inconclusive'] },
});

export const ROLLOUT_SETTLE = defineHistogram({
  ...SERVED,
  name: 'rollout_settle_seconds',
  help: 'Time from the grant of a machine to its end at the revision.',
  labels: { set: SET_NAMES },
  buckets: [10, 30, 60, 120, 300, 600, 900, 1800, 3600],
});

export const ROLLOUT_ROLLBACKS = defineCounter({
  ...SERVED,
  name: 'rollout_rollbacks_total',
  help: 'Revisions that were rolled back.',
  labels: { set: SET_NAMES },
});

/** Stopped: it failed and waits for a person. RolledBack: it failed and goes back. */
export const COMPONENT_ROLLOUT_EVENTS = [
  'Started',
  'BatchStarted',
  'Paused',
  'Completed',
  'Stopped',
  'RolledBack',
] as const;

const BY_COMPONENT = {
  processes: ['controllers'],
  writtenIn: 'src/controllers/componentset/component-metrics.ts',
} as const;

export const COMPONENT_ROLLOUTS = defineCounter({
  ...BY_COMPONENT,
  name: 'component_rollouts_total',
  help: 'Rollouts of a component by component sets that started, started a batch, were paused, completed, stopped, or were rolled back.',
  labels: { component: COMPONENTS, event: COMPONENT_ROLLOUT_EVENTS },
  maxSeries: 600,
});

/** The time that a rollout takes to go back is in no status: a process that begins in between does not observe it. */
export const COMPONENT_ROLLBACK = defineHistogram({
  ...BY_COMPONENT,
  name: 'component_rollback_seconds',
  help: 'Time from when a rollout of a component failed until its machines were back.',
  labels: { component: COMPONENTS },
  maxSeries: 60,
  buckets: [60, 300, 600, 1800, 3600, 7200, 14_400, 28_800],
});

export const ROLLOUT_BLOCKED = defineCounter({
  ...SERVED,
  name: 'rollout_blocked_seconds_total',
  help: 'Time that machines of a set waited, by reason, summed over the machines.',
  labels: { set: SET_NAMES, reason: { of: 'kinds of waits', most: 13 } },
  maxSeries: 1000,
});

export const STALLED_OBJECTS = defineGauge({
  processes: ['controllers'],
  writtenIn: 'src/rollout/stalled.ts',
  name: 'stalled_objects',
  help: 'Objects that wait for a person, by kind and reason.',
  labels: { kind: { of: 'kinds', most: 5 }, reason: CONDITION_REASONS },
  maxSeries: 200,
});

export const ROLLOUT_METRICS = [
  ROLLOUT_BATCH,
  ROLLOUT_MACHINES,
  ROLLOUT_GATES,
  ROLLOUT_SETTLE,
  ROLLOUT_ROLLBACKS,
  COMPONENT_ROLLOUTS,
  COMPONENT_ROLLBACK,
  ROLLOUT_BLOCKED,
  STALLED_OBJECTS,
];
