/** Reads what a MaintenanceEvent is judged by: its machine, the jobs and events there, and how long drains take in its pool. */
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
import { LABEL_MACHINESET, LABEL_POOL, MAINTENANCE_REMEDIER } from '../../api/names.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { usualDrainSeconds } from './drain-time.ts';

export interface MaintenanceInput {
  readonly event: MaintenanceEvent;
  readonly machine: Machine | undefined;
  /** The jobs of the machine, by whatever rule. */
  readonly jobs: readonly RemedyOperationJob[];
  /** The events of the machine without this one. */
  readonly otherEvents: readonly MaintenanceEvent[];
  /** The NodeRemedier with the name MAINTENANCE_REMEDIER. */
  readonly remedier: NodeRemedier | undefined;
  readonly drainSeconds: number;
  /** The time by the clock of the API server, which sets the times of objects. */
  readonly now: Date;
}

export function observeMaintenance(
  event: MaintenanceEvent,
  now: Date,
  context: ReconcileContext,
): MaintenanceInput {
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
