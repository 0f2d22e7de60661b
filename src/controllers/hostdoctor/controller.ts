/**
 * Follows MaintenanceEvents, as kubenode-hostdoctor, and reports those that providers and files announce. It never touches a Node: jobs of
 * the rule `maintenance` do.
 */
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
import { maintenanceEventsOn } from '../../api/machine/maintenance-events.ts';
import {
  MAINTENANCE_REMEDIER,
  MANAGER_HOSTDOCTOR,
  NAMESPACE,
  PRINCIPAL_HOSTDOCTOR,
} from '../../api/names.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { partChanged } from '../../kube/controller/predicates.ts';
import type { ReadableStore, ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import type { OpenProviders } from '../../providers/registry.ts';
import { createTimePoints, type ReadTime } from '../../rules/clocks/time-point.ts';
import { carryOutMaintenance } from './execute.ts';
import { createFolderMemory, type EventFolder, FOLDER_KEY, scanFolder } from './intake/folder.ts';
import { observeMaintenance } from './observe.ts';
import { planMaintenance } from './plan.ts';
import { createPollMemory, pollKey, pollProvider } from './poll/execute.ts';

export interface HostDoctorControllerOptions {
  /** The wall clock of this process minus that of the API server; undefined while the server does not answer. */
  readonly skewSeconds?: () => number | undefined;
  /** The providers of this process. Those that announce events are polled. */
  readonly providers?: OpenProviders;
  /** The folder in which hardware systems report events. */
  readonly folder?: EventFolder;
}

export function createHostDoctorController({
  skewSeconds,
  providers = {},
  folder,
}: HostDoctorControllerOptions): Controller {
  const polled = Object.values(providers)
    .filter(({ capabilities }) => capabilities.events)
    .map((provider) => ({ key: pollKey(provider.name), provider, memory: createPollMemory() }));
  const folderMemory = createFolderMemory();
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
    triggers: (add) => {
      for (const { key } of polled) add(key);
      if (folder) add(FOLDER_KEY);
      return () => undefined;
    },
    writes: ['MaintenanceEvent.metadata.labels', 'MaintenanceEvent.spec', 'MaintenanceEvent.status'],
    creates: ['MaintenanceEvent'],
    deletes: ['MaintenanceEvent'],
    fieldManager: MANAGER_HOSTDOCTOR,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_HOSTDOCTOR },
    reconcile: async (key, context) => {
      events = context.view<MaintenanceEvent>(MAINTENANCE_EVENTS);
      const time = (readTime ??= createTimePoints(context.clock, skewSeconds));
      if (folder && key === FOLDER_KEY) {
        return await scanFolder(folder, { memory: folderMemory, now: () => time().at, context });
      }
      const poll = polled.find((each) => each.key === key);
      if (!poll) return await reconcile(key, time().at, context);
      return await pollProvider(poll.provider, { memory: poll.memory, now: () => time().at, context });
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
  const input = observeMaintenance(event, now, context);
  const plan = planMaintenance(input);
  await carryOutMaintenance(plan, input, context);
  // The queue runs by our own clock.
  const { nextAt, isExpired } = plan;
  return nextAt && !isExpired ? { requeueAt: new Date(+context.clock.now() + (+nextAt - +now)) } : {};
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
