/** Decides when a MaintenanceEvent is looked at again, when it is deleted, and which news people get. Pure. */

import type { MaintenanceEvent, MaintenanceEventStatus, Wait } from '../../api/generated/types.ts';
import { hintExpiry, isFinalState } from '../../api/machine/maintenance-events.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { maintenanceEventPhases } from '../../api/status/phase-tables.ts';
import { conditionOf, conditionStatus } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { MaintenanceInput } from './observe.ts';
import { type StagedEvent, stageEvent } from './stage.ts';
import { maintenanceStatus } from './status.ts';

export interface MaintenancePlan {
  readonly status: MaintenanceEventStatus;
  /** It ended so long ago that it is deleted. */
  readonly isExpired: boolean;
  readonly nextAt?: Date;
  /** For people, where its phase changes. */
  readonly news?: MaintenanceNews;
}

interface MaintenanceNews {
  readonly phase: string;
  readonly isBad: boolean;
  readonly note: string;
}

export function planMaintenance(observation: MaintenanceInput): MaintenancePlan {
  const { event, now } = observation;
  const staged = stageEvent(observation);
  const status = maintenanceStatus(staged, observation);
  const expiry = expiryOf(status, event);
  const nextAt = nextMoment(staged, { event, expiry, now });
  return {
    status,
    isExpired: expiry !== undefined && expiry <= now,
    ...optional('nextAt', nextAt),
    ...optional('news', newsOf(staged, event, status)),
  };
}

/** Two weeks, as jobs are kept: both are read together. */
const KEEP_MS = 1_209_600_000;

/** An event that ended before its time is kept beyond that time: while its provider announces it, a poll would report it again. */
function expiryOf({ conditions }: MaintenanceEventStatus, { spec }: MaintenanceEvent): Date | undefined {
  const settled = conditionOf(conditions, 'Settled');
  const since = settled?.status === 'True' ? parseTime(settled.lastTransitionTime) : undefined;
  if (!since) return undefined;
  const begin = spec.state === 'Done' ? undefined : parseTime(spec.notBefore);
  return new Date(Math.max(+since, +(begin ?? since)) + KEEP_MS);
}

interface Moments {
  readonly event: MaintenanceEvent;
  readonly expiry: Date | undefined;
  readonly now: Date;
}

function nextMoment({ actAt, stage }: StagedEvent, { event, expiry, now }: Moments): Date | undefined {
  if (stage === 'Settled') return expiry;
  const moments = [actAt, hintExpiry(event), parseTime(event.spec.deadline)];
  const [first] = moments
    .flatMap((at) => at ?? [])
    .filter((at) => at > now)
    .toSorted((a, b) => +a - +b);
  return first;
}

function newsOf(
  { stage }: StagedEvent,
  event: MaintenanceEvent,
  { conditions, waiting }: MaintenanceEventStatus,
): MaintenanceNews | undefined {
  const { metadata, spec } = event;
  const after = stage === 'Inconsistent' ? stage : maintenanceEventPhases.phaseOf({ conditions });
  if (after === newsBefore(event)) return undefined;
  const what = `${spec.type} of Machine ${spec.machine}, event ${metadata.name}`;
  const why = waiting ? textOfWait(waiting) : endText(spec.state);
  const isBad = stage === 'Inconsistent' || stage === 'Unmatched';
  return { phase: after, isBad, note: `${what}: ${why}` };
}

function newsBefore({ status }: MaintenanceEvent): string | undefined {
  const { conditions = [] } = status ?? {};
  if (conditions.length === 0) return undefined;
  const isOver = conditionStatus(conditions, 'Settled') === 'True';
  return !isOver && conditionStatus(conditions, 'Inconsistent') === 'True'
    ? 'Inconsistent'
    : maintenanceEventPhases.phaseOf({ conditions });
}

function textOfWait({ reason, message = reason }: Wait): string {
  return message;
}

function endText(state: MaintenanceEvent['spec']['state']): string {
  return isFinalState(state) ? `it is ${state}` : 'its time is over';
}
