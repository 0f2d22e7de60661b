/** What the planner of an event is given. */
import type {
  Machine,
  MaintenanceEvent,
  NodeRemedier,
  RemedyOperationJob,
} from '../../api/generated/types.ts';

export interface MaintenanceObservation {
  readonly event: MaintenanceEvent;
  readonly machine: Machine | undefined;
  /** Of the machine, by whatever rule. */
  readonly jobs: readonly RemedyOperationJob[];
  /** Of the machine, without this one. */
  readonly otherEvents: readonly MaintenanceEvent[];
  /** MAINTENANCE_REMEDIER. */
  readonly remedier: NodeRemedier | undefined;
  readonly drainSeconds: number;
  /** By the clock of the API server, which the times of objects are of. */
  readonly now: Date;
}
