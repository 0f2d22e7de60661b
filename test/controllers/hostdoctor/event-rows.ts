/** Events in each stage, with what they wait for. */
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import type { MaintenanceInput } from '../../../src/controllers/hostdoctor/observe.ts';
import type { MaintenanceStage } from '../../../src/controllers/hostdoctor/stage.ts';
import { ago, machine } from '../../support/builders.ts';
import {
  type EventParts,
  maintenanceEvent,
  maintenanceJob,
  maintenanceRule,
} from '../../support/maintenance.ts';

/** Preparation of it began five minutes ago. */
export const SOON = { notBefore: ago(-1200) };
export const HINT = { hint: true, ttlSeconds: 600, notBefore: ago(-1200) };
const PREPARING = maintenanceJob();
const PREPARED = maintenanceJob({}, 'drained');
const WAITING: RemedyOperationJob = {
  ...PREPARING,
  status: {
    conditions: [],
    phase: 'Waiting',
    waiting: { reason: 'PodDisruptionBudget', since: ago(5), message: 'budget shop/web permits no eviction' },
  },
};
const ENDED = maintenanceJob({ outcome: 'Permanent' });

/** Completes "an event that …". The wait is the beginning of its text; empty for none. */
export type EventRow = readonly [
  it: string,
  event: EventParts,
  more: Partial<MaintenanceInput>,
  result: readonly [stage: MaintenanceStage, wait: string],
];

const waiting = machine('m-1', {
  status: {
    remedyWaits: [{ rule: 'maintenance', reason: 'Denied', since: ago(9), message: 'zone a is full' }],
  },
});

export const EVENT_ROWS: readonly EventRow[] = [
  ['waits until its time', {}, {}, ['TooEarly', 'TooEarly: preparation begins at ']],
  [
    'is prepared when its time has come',
    SOON,
    {},
    ['Preparing', 'NoJobYet: NodeRemedier maintenance has begun'],
  ],
  ['shows what its job waits for', SOON, { jobs: [WAITING] }, ['Preparing', 'PodDisruptionBudget: job m-1-']],
  ['shows a job that waits for nothing', SOON, { jobs: [PREPARING] }, ['Preparing', 'JobRunning: job m-1-']],
  ['shows why its rule has no job', SOON, { machine: waiting }, ['Preparing', 'Denied: zone a is full']],
  ['shows how its job ended', SOON, { jobs: [ENDED] }, ['Preparing', 'JobEnded: job m-1-']],
  [
    'has no rule',
    SOON,
    { remedier: undefined },
    ['Preparing', 'NoRule: NodeRemedier maintenance does not exist'],
  ],
  [
    'has a rule that does not act',
    SOON,
    { remedier: maintenanceRule('Shadow') },
    ['Preparing', 'Shadow: NodeRemedier maintenance is in mode Shadow'],
  ],
  [
    'is not prepared by its deadline',
    { ...SOON, deadline: ago(1) },
    { jobs: [WAITING] },
    ['Preparing', 'DeadlinePassed: not prepared by the deadline '],
  ],
  [
    'is prepared',
    SOON,
    { jobs: [PREPARED] },
    ['Prepared', 'EventNotOver: the machine is prepared; the reporter'],
  ],
  ['is prepared early by another event', {}, { jobs: [PREPARED] }, ['Prepared', 'EventNotOver: ']],
  [
    'needs no preparation',
    { type: 'Freeze' },
    {},
    ['NotNeeded', 'EventNotOver: a machine needs no preparation'],
  ],
  [
    'was prepared by a job that has ended',
    SOON,
    { jobs: [maintenanceJob({ outcome: 'Permanent' }, 'drained')] },
    ['Preparing', 'JobEnded: job m-1-'],
  ],
  [
    'was cancelled, and whose job has ended and not returned the node',
    { ...SOON, state: 'Cancelled' },
    { jobs: [{ ...ENDED, metadata: { ...ENDED.metadata, finalizers: ['kubenode.dev/settle'] } }] },
    ['Undoing', 'Undoing: '],
  ],
  [
    'leaves no job to an event that nothing is done for',
    { ...SOON, state: 'Cancelled' },
    { jobs: [PREPARED], otherEvents: [maintenanceEvent({ name: 'local-e-2' })] },
    ['Undoing', 'Undoing: '],
  ],
  ['is only inquired', { ...SOON, state: 'Inquiring' }, {}, ['NotScheduled', 'NotScheduled: the provider']],
  [
    'has no machine',
    {},
    { machine: undefined },
    ['Unmatched', 'MachineNotFound: Machine m-1 does not exist'],
  ],
  [
    'changed its state impossibly',
    { state: 'Inquiring', status: { observedState: 'Scheduled' } },
    {},
    ['Inconsistent', 'Inconsistent: nothing is done: state Inquiring cannot follow Scheduled'],
  ],
  ['is a hint that is still young', HINT, {}, ['NotScheduled', 'NotScheduled: it is a hint']],
  [
    'was cancelled during the drain',
    { ...SOON, state: 'Cancelled' },
    { jobs: [PREPARING] },
    ['Undoing', 'Undoing: job m-1-'],
  ],
  ['was cancelled and undone', { ...SOON, state: 'Cancelled' }, { jobs: [ENDED] }, ['Settled', '']],
  ['was cancelled before its time', { state: 'Cancelled' }, {}, ['Settled', '']],
  ['was avoided', { state: 'Avoided' }, {}, ['Settled', '']],
  ['is over without its machine', { state: 'Done' }, { machine: undefined }, ['Settled', '']],
  ['is a hint whose time is over', { ...HINT, ttlSeconds: 60 }, {}, ['Settled', '']],
  [
    'is a hint whose time is over while its job works',
    { ...HINT, ttlSeconds: 60 },
    { jobs: [PREPARING] },
    ['Undoing', 'Undoing: '],
  ],
  [
    'leaves the job to another event of the machine',
    { ...SOON, state: 'Cancelled' },
    { jobs: [PREPARED], otherEvents: [maintenanceEvent({ name: 'local-e-2', status: { actAt: ago(1) } })] },
    ['Settled', ''],
  ],
  [
    'leaves no job to an event that is over as well',
    { ...SOON, state: 'Cancelled' },
    {
      jobs: [PREPARED],
      otherEvents: [maintenanceEvent({ name: 'local-e-2', state: 'Done', status: { actAt: ago(1) } })],
    },
    ['Undoing', 'Undoing: '],
  ],
];
