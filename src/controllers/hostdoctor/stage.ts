/** How far an event is: what its conditions and its wait follow from. Pure. */
import type { RemedyOperationJob } from '../../api/generated/types.ts';
import { isDecided, isMaintenanceOver, needsPreparation } from '../../api/machine/maintenance-events.ts';
import { actTime } from './drain-time.ts';
import { hasPrepared, holdsNode, jobOfEvent } from './event-job.ts';
import { type MachineMatch, matchMachine } from './match.ts';
import type { MaintenanceInput } from './observe.ts';
import { type StateChange, stateChange } from './state-change.ts';

export type MaintenanceStage =
  /** Over, and nothing that a job of it set is left on the node. */
  | 'Settled'
  /** Over, and its job still returns what it set. */
  | 'Undoing'
  | 'Unmatched'
  | 'Inconsistent'
  /** The rule prepares no machine for its type. */
  | 'NotNeeded'
  /** The provider has only asked, or it is a hint: it may never come. */
  | 'NotScheduled'
  | 'TooEarly'
  | 'Preparing'
  | 'Prepared';

export interface StagedEvent {
  readonly stage: MaintenanceStage;
  readonly match: MachineMatch;
  readonly change: StateChange;
  readonly job: RemedyOperationJob | undefined;
  /** Only while it is to come: rules act on no other event. */
  readonly actAt?: Date;
}

export function stageEvent(observation: MaintenanceInput): StagedEvent {
  const { event, machine, jobs, drainSeconds, now } = observation;
  const match = matchMachine(event, machine);
  const change = stateChange(event);
  const job = jobOfEvent(event, jobs);
  const found = { match, change, job };
  if (isMaintenanceOver(event, now)) {
    return { ...found, stage: isInUse(job, observation) ? 'Undoing' : 'Settled' };
  }
  if (match.mismatch) return { ...found, stage: 'Unmatched' };
  if (change.inconsistent !== undefined) return { ...found, stage: 'Inconsistent' };
  const actAt = actTime(event, drainSeconds, now);
  if (!needsPreparation(event)) return { ...found, actAt, stage: 'NotNeeded' };
  return { ...found, actAt, stage: preparationStage({ event, job, actAt, now }) };
}

/** A job that another event of the machine needs is not left by this one. */
function isInUse(job: RemedyOperationJob | undefined, { otherEvents, now }: MaintenanceInput): boolean {
  if (!job || !holdsNode(job)) return false;
  return !otherEvents.some((other) => !isMaintenanceOver(other, now) && other.status?.actAt !== undefined);
}

interface PendingEvent extends Pick<MaintenanceInput, 'event' | 'now'> {
  readonly job: RemedyOperationJob | undefined;
  readonly actAt: Date;
}

function preparationStage({ event, job, actAt, now }: PendingEvent): MaintenanceStage {
  // An earlier event may have had the machine prepared already.
  if (job && holdsNode(job) && hasPrepared(job)) return 'Prepared';
  if (!isDecided(event)) return 'NotScheduled';
  return now < actAt ? 'TooEarly' : 'Preparing';
}
