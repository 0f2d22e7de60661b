/**
 * The fact of what is announced for the machine: its earliest event that is not over. An event that its controller has not matched
 * and given a time to act is not pending, and one that has changed since is unknown: neither is a reason to act.
 */
import { DECIDED, NO_OUTAGES, OUTAGES } from '../../api/enums.ts';
import type { MaintenanceEvent } from '../../api/generated/types.ts';
import {
  hintExpiry,
  isDecided,
  isMaintenanceOver,
  needsPreparation,
} from '../../api/machine/maintenance-events.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import type { TimePoint } from '../clocks/time-point.ts';
import type { FactKind } from './fact.ts';
import { BOOLEAN_FIELD, COUNTDOWN_FIELD, createEnumField, createFields, createParams } from './field.ts';
import { knownAnswer, type ReadFact, unknownAnswer } from './reading/answer.ts';
import { RECORDED_CONDITION } from './reading/recorded.ts';

const fields = createFields({
  pending: BOOLEAN_FIELD,
  type: createEnumField([...OUTAGES, ...NO_OUTAGES]),
  state: createEnumField(['Inquiring', ...DECIDED]),
  hint: BOOLEAN_FIELD,
  secondsUntilNotBefore: COUNTDOWN_FIELD,
  secondsUntilAct: COUNTDOWN_FIELD,
});

const read: ReadFact = ({ problems, objects: { maintenance }, point }) => {
  if (problems.maintenance !== undefined) return unknownAnswer(problems.maintenance);
  const stale = maintenance.find((event) => isStale(event, point));
  if (stale) {
    return unknownAnswer(`the change of MaintenanceEvent ${stale.metadata.name} is not processed yet`);
  }
  const [first] = maintenance.filter((event) => isPending(event, point)).toSorted(byUrgency);
  const changesInMs = Math.min(Infinity, ...maintenance.map((event) => expiresInMs(event, point)));
  if (!first) return knownAnswer(fields, { pending: false }, changesInMs);
  const { type, state, hint, notBefore } = first.spec;
  const values = {
    pending: true,
    type,
    state,
    hint,
    secondsUntilNotBefore: secondsUntil(notBefore, point),
    secondsUntilAct: secondsUntil(first.status?.actAt, point),
  };
  return knownAnswer(fields, values, changesInMs);
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

export const maintenanceFact = {
  name: 'maintenance',
  source: 'MaintenanceEvents of the machine that are not over',
  maxAge: 'OurWatch',
  heartbeats: [],
  params: createParams({}),
  fields,
  read,
  changes: { maintenance: () => true },
  recorded: {
    maintenance: {
      // What the status is about.
      metadata: { generation: true },
      spec: { machine: true, type: true, state: true, hint: true, ttlSeconds: true, notBefore: true },
      status: { observedGeneration: true, actAt: true, conditions: RECORDED_CONDITION },
    },
  },
} satisfies FactKind;
