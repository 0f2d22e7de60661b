/** Reads and updates lists of `metav1.Condition`, and keeps lastTransitionTime while a status is unchanged. */
import { wholeSeconds } from '../../os/dates.ts';
import { truncate } from './truncate.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** A condition to set. The time of the transition is computed here. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

/** The limit of our kinds. The API server would reject the whole status for a longer message. */
const MAX_MESSAGE = 1024;
/** A subset of what metav1.Condition allows. */
const REASON = /^[A-Z][A-Za-z0-9]{0,63}$/;
const TYPE = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** CamelCase of at most 64 characters: what `withCondition` takes as a reason. */
export function isConditionReason(text: string): boolean {
  return REASON.test(text);
}

export function conditionOf<C extends Pick<Condition, 'type'>>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Unknown for a missing condition. Also Unknown, when the generation of the object is given, for a condition of an older
 * generation: it does not describe the current spec.
 */
export function conditionStatus(
  conditions: readonly Pick<Condition, 'type' | 'status' | 'observedGeneration'>[] | undefined,
  type: string,
  generation?: number,
): ConditionStatus {
  const condition = conditionOf(conditions, type);
  if (!condition) return 'Unknown';
  const { observedGeneration } = condition;
  const isOutdated =
    generation !== undefined && observedGeneration !== undefined && observedGeneration < generation;
  return isOutdated ? 'Unknown' : condition.status;
}

/** Sets one condition and keeps the others and their order. Returns the same list when nothing changes. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  update: ConditionUpdate,
  now: Date,
): readonly Condition[] {
  const present = conditions ?? [];
  const before = conditionOf(present, update.type);
  const after = updatedCondition(before, update, now);
  if (!before) return [...present, after];
  if (isEqual(before, after)) return present;
  return present.map((condition) => (condition === before ? after : condition));
}

/** `generation`: the one that the updates were found at, if they say nothing else. */
export function withConditions(
  conditions: readonly Condition[] | undefined,
  updates: readonly ConditionUpdate[],
  now: Date,
  generation?: number,
): readonly Condition[] {
  const found = generation === undefined ? {} : { observedGeneration: generation };
  return updates.reduce(
    (list, update) => withCondition(list, { ...found, ...update }, now),
    conditions ?? [],
  );
}

/** Only a new status is a transition: a new reason or message keeps lastTransitionTime. */
function updatedCondition(before: Condition | undefined, update: ConditionUpdate, now: Date): Condition {
  const { type, status, observedGeneration, reason, message } = update;
  if (!TYPE.test(type)) throw new RangeError(`invalid condition type '${type}': expected a qualified name`);
  if (!isConditionReason(reason)) {
    throw new RangeError(
      `invalid reason '${reason}' of condition ${type}: expected CamelCase of at most 64 characters`,
    );
  }
  return {
    type,
    status,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : wholeSeconds(now),
    reason,
    message: truncate(message, MAX_MESSAGE),
  };
}

function isEqual(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.observedGeneration === b.observedGeneration &&
    a.reason === b.reason &&
    a.message === b.message
  );
}
