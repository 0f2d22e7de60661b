/** Follows MaintenanceEvents, as kubenode-hostdoctor. It never touches a Node: jobs of the rule `maintenance` do. */
import {
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import type {
  Machine,
  MaintenanceEvent,
  NodeRemedier,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { jobsOn } from '../../api/machine/jobs.ts';
import { maintenanceEventsOn } from '../../api/machine/maintenance-events.ts';
import {
  EVENT_PREFIX,
  LABEL_MACHINESET,
  LABEL_POOL,
  MAINTENANCE_REMEDIER,
  MANAGER_HOSTDOCTOR,
  NAMESPACE,
  PRINCIPAL_HOSTDOCTOR,
} from '../../api/names.ts';
import { truncateToSchema } from '../../api/validation/truncate-to-schema.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { partChanged } from '../../kube/controller/predicates.ts';
import type { ReadableStore, ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { createTimePoints, type ReadTime } from '../../rules/clocks/time-point.ts';
import { usualDrainSeconds } from './drain-time.ts';
import type { MaintenanceInput } from './input.ts';
import { type MaintenanceNews, planMaintenance } from './plan.ts';

export interface HostDoctorControllerOptions {
  /** The wall clock of this process minus that of the API server; undefined while the server does not answer. */
  readonly skewSeconds?: () => number | undefined;
}

export function createHostDoctorController({ skewSeconds }: HostDoctorControllerOptions): Controller {
  let events: ReadableStore<MaintenanceEvent> | undefined;
  let readTime: ReadTime | undefined;
  return {
    name: 'hostdoctor',
    reads: [
      read(MAINTENANCE_EVENTS, { keys: ({ spec, metadata }) => [metadata.name, ...eventsOn(spec.machine)] }),
      read(MACHINES, { keys: ({ metadata }) => eventsOn(metadata.name), changed: machineChanged }),
      read(REMEDY_OPERATION_JOBS, { keys: keysOfJob, changed: jobChanged }),
      read(NODE_REMEDIERS, { keys: keysOfRule, changed: partChanged(({ spec }) => spec.mode) }),
    ],
    writes: ['MaintenanceEvent.status'],
    deletes: ['MaintenanceEvent'],
    fieldManager: MANAGER_HOSTDOCTOR,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_HOSTDOCTOR },
    reconcile: async (name, context) => {
      events = context.view<MaintenanceEvent>(MAINTENANCE_EVENTS);
      readTime ??= createTimePoints(context.clock, skewSeconds);
      return await reconcile(name, readTime().at, context);
    },
  };

  /** Before the first reconcile the initial list names them all. */
  function eventsOn(machine: string): readonly string[] {
    return events ? maintenanceEventsOn(machine, events).map(({ metadata }) => metadata.name) : [];
  }

  function keysOfJob({ spec }: RemedyOperationJob): readonly string[] {
    return spec.cause.remedier === MAINTENANCE_REMEDIER ? eventsOn(spec.machine.name) : [];
  }

  function keysOfRule({ metadata }: NodeRemedier): readonly string[] {
    if (metadata.name !== MAINTENANCE_REMEDIER) return [];
    const open = (events?.list() ?? []).filter(
      ({ status }) => conditionStatus(status?.conditions, 'Settled') !== 'True',
    );
    return open.map((event) => event.metadata.name);
  }
}

async function reconcile(name: string, now: Date, context: ReconcileContext): Promise<ReconcileResult> {
  const event = context.view<MaintenanceEvent>(MAINTENANCE_EVENTS).get(name);
  if (!event || event.metadata.deletionTimestamp !== undefined) return {};
  const observation = observe(event, now, context);
  const { status, isExpired, nextAt, news } = planMaintenance(observation);
  if (isExpired) {
    await context.delete(MAINTENANCE_EVENTS, event, { unchanged: true });
    return {};
  }
  const metadata = { name, ...optional('uid', event.metadata.uid) };
  const { status: fitting } = truncateToSchema({ ...event, status });
  await context.applyStatus(MAINTENANCE_EVENTS, { metadata, status: fitting });
  if (news) announce(news, observation, context);
  // The queue runs by our own clock.
  return nextAt ? { requeueAt: new Date(+context.clock.now() + (+nextAt - +now)) } : {};
}

function announce(
  { isBad, phase, note }: MaintenanceNews,
  { machine, event }: MaintenanceInput,
  context: ReconcileContext,
): void {
  const reason = `${EVENT_PREFIX[MANAGER_HOSTDOCTOR]}${phase}`;
  context.event(machine ?? event, { type: isBad ? 'Warning' : 'Normal', reason, action: 'Prepare', note });
}

function observe(event: MaintenanceEvent, now: Date, context: ReconcileContext): MaintenanceInput {
  const { machine: name } = event.spec;
  const machine = context.view<Machine>(MACHINES).get(name);
  const events = context.view<MaintenanceEvent>(MAINTENANCE_EVENTS);
  const jobs = context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
  return {
    event,
    machine,
    jobs: jobsOn(name, jobs),
    otherEvents: maintenanceEventsOn(name, events).filter(
      ({ metadata }) => metadata.name !== event.metadata.name,
    ),
    remedier: context.view<NodeRemedier>(NODE_REMEDIERS).get(MAINTENANCE_REMEDIER),
    drainSeconds: usualDrainSeconds(machine ? jobsOfPool(machine, context) : []),
    now,
  };
}

function jobsOfPool(machine: Machine, context: ReconcileContext): readonly RemedyOperationJob[] {
  const machines = context.view<Machine>(MACHINES);
  const pool = poolOf(machine);
  const jobs = context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS).list();
  return jobs.filter(({ spec }) => {
    const other = machines.get(spec.machine.name);
    return other !== undefined && poolOf(other) === pool;
  });
}

function poolOf({ metadata: { labels = {} } }: Machine): string | undefined {
  return labels[LABEL_POOL] ?? labels[LABEL_MACHINESET];
}

const machineChanged = partChanged<Machine>(({ metadata, status }) => [
  metadata.uid,
  metadata.labels,
  status?.infra?.providerID,
  status?.remedyWaits?.find(({ rule }) => rule === MAINTENANCE_REMEDIER),
]);

const jobChanged = partChanged<RemedyOperationJob>(({ metadata, status }) => [
  metadata.finalizers,
  status?.outcome,
  status?.steps,
  status?.waiting,
  status?.conditions,
]);
