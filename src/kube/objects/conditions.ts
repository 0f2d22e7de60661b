/** Reads and updates lists of `metav1.Condition`, and keeps lastTransitionTime while a status is unchanged. */

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

/** The limit of our kinds, in code points as the API server counts them. */
const MAX_MESSAGE = 1024;
/** CamelCase of at most 64 characters: a subset of what metav1.Condition allows. */
const REASON = /^[A-Z][A-Za-z0-9]{0,63}$/;
const TYPE = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

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

export function withConditions(
  conditions: readonly Condition[] | undefined,
  updates: readonly ConditionUpdate[],
  now: Date,
): readonly Condition[] {
  return updates.reduce((list, update) => withCondition(list, update, now), conditions ?? []);
}

export function withoutCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): readonly Condition[] {
  const present = conditions ?? [];
  return conditionOf(present, type) ? present.filter((condition) => condition.type !== type) : present;
}

/** Only a new status is a transition: a new reason or message keeps lastTransitionTime. */
function updatedCondition(before: Condition | undefined, update: ConditionUpdate, now: Date): Condition {
  const { type, status, observedGeneration, reason, message } = update;
  if (!TYPE.test(type)) throw new RangeError(`invalid condition type '${type}': expected a qualified name`);
  if (!REASON.test(reason)) {
    throw new RangeError(
      `invalid reason '${reason}' of condition ${type}: expected CamelCase of at most 64 characters`,
    );
  }
  return {
    type,
    status,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : formatTime(now),
    reason,
    message: cutMessage(message),
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

/** metav1.Time has whole seconds. */
function formatTime(moment: Date): string {
  return moment.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Cuts a message that is too long, because the API server would reject the whole status. */
function cutMessage(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  const points = Array.from(message);
  return points.length <= MAX_MESSAGE ? message : `${points.slice(0, MAX_MESSAGE - 1).join('')}…`;
}
