/** Holds the input of the planner of an event. */
import type {
  Machine,
  MaintenanceEvent,
  NodeRemedier,
  RemedyOperationJob,
} from '../../api/generated/types.ts';

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
