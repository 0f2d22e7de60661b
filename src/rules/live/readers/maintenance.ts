/**
 * Reads what is announced for the machine. An event that its controller has not matched and given a time to act is not pending, and
 * one that has changed since is unknown: neither is a reason to act.
 */
import type { MaintenanceEvent } from '../../../api/generated/types.ts';
import {
  hintExpiry,
  isDecided,
  isMaintenanceOver,
  needsPreparation,
} from '../../../api/machine/maintenance-events.ts';
import { parseTime } from '../../../api/machine/node-state.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import type { TimePoint } from '../../clocks/time-point.ts';
import { maintenanceFact } from '../../facts/maintenance.ts';
import { knownAnswer, type ReadFact, unknownAnswer } from '../../facts/reading/answer.ts';

export const readAnnounced: ReadFact = ({ problems, maintenance, point }) => {
  if (problems.maintenance !== undefined) return unknownAnswer(problems.maintenance);
  const stale = maintenance.find((event) => isStale(event, point));
  if (stale) {
    return unknownAnswer(`the change of MaintenanceEvent ${stale.metadata.name} is not processed yet`);
  }
  const [first] = maintenance.filter((event) => isPending(event, point)).toSorted(byUrgency);
  const changesInMs = Math.min(Infinity, ...maintenance.map((event) => expiresInMs(event, point)));
  if (!first) return knownAnswer(maintenanceFact, { pending: false }, changesInMs);
  const { type, state, hint, notBefore } = first.spec;
  const values = {
    pending: true,
    type,
    state,
    hint,
    secondsUntilNotBefore: secondsUntil(notBefore, point),
    secondsUntilAct: secondsUntil(first.status?.actAt, point),
  };
  return knownAnswer(maintenanceFact, values, changesInMs);
};

/** Its status is about an earlier report. Its end needs no status. */
function isStale(event: MaintenanceEvent, { at }: TimePoint): boolean {
  const { actAt, observedGeneration } = event.status ?? {};
  const isOlder = actAt !== undefined && observedGeneration !== event.metadata.generation;
  return isOlder && !isMaintenanceOver(event, at);
}

function isPending(event: MaintenanceEvent, { at }: TimePoint): boolean {
  const { conditions, actAt } = event.status ?? {};
  const isKnown = actAt !== undefined && conditionStatus(conditions, 'Matched') === 'True';
  const isEnded = ['Inconsistent', 'Settled'].some((type) => conditionStatus(conditions, type) === 'True');
  return isKnown && !isEnded && !isMaintenanceOver(event, at);
}

/** The earliest first, then by name. One that may never come hides none that will, whatever their times. */
function byUrgency(a: MaintenanceEvent, b: MaintenanceEvent): number {
  const rank = Number(isCertainOutage(b)) - Number(isCertainOutage(a));
  return rank || startMs(a) - startMs(b) || (a.metadata.name < b.metadata.name ? -1 : 1);
}

function isCertainOutage(event: MaintenanceEvent): boolean {
  return isDecided(event) && needsPreparation(event);
}

/** Without a time it may begin at any moment. */
function startMs({ spec }: MaintenanceEvent): number {
  return parseTime(spec.notBefore)?.getTime() ?? 0;
}

function secondsUntil(timestamp: string | undefined, { at }: TimePoint): number | undefined {
  const time = parseTime(timestamp);
  return time && (time.getTime() - at.getTime()) / 1000;
}

function expiresInMs(event: MaintenanceEvent, { at }: TimePoint): number {
  const leftMs = (hintExpiry(event)?.getTime() ?? 0) - at.getTime();
  return leftMs > 0 ? leftMs : Infinity;
}
