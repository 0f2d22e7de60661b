/** `metav1.Condition`, as every status holds it: read safely, changed without losing when it last turned. */

export type ConditionStatus = 'True' | 'False' | 'Unknown';

export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** What a pass has to say: the moment of the transition is worked out here. */
export type ConditionUpdate = Omit<Condition, 'lastTransitionTime'>;

/** The bound of our kinds, in code points as the API server counts them. */
const MAX_MESSAGE = 1024;
/** CamelCase, at most 64: a subset of what metav1.Condition allows. */
const REASON = /^[A-Z][A-Za-z0-9]{0,63}$/;
const TYPE = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

export function conditionOf<C extends Pick<Condition, 'type'>>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * Absent is Unknown. With the object's generation given, so is a condition that speaks of an older spec:
 * "Ready" from before the change says nothing about what is wanted now.
 */
export function conditionStatus(
  conditions: readonly Pick<Condition, 'type' | 'status' | 'observedGeneration'>[] | undefined,
  type: string,
  generation?: number,
): ConditionStatus {
  const condition = conditionOf(conditions, type);
  if (!condition) return 'Unknown';
  const { observedGeneration } = condition;
  const old = generation !== undefined && observedGeneration !== undefined && observedGeneration < generation;
  return old ? 'Unknown' : condition.status;
}

/** Says one thing anew and keeps the rest, and their order. The very same list comes back when nothing is new. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  finding: ConditionUpdate,
  now: Date,
): readonly Condition[] {
  const present = conditions ?? [];
  const before = conditionOf(present, finding.type);
  const after = turned(before, finding, now);
  if (!before) return [...present, after];
  if (same(before, after)) return present;
  return present.map((condition) => (condition === before ? after : condition));
}

export function withConditions(
  conditions: readonly Condition[] | undefined,
  findings: readonly ConditionUpdate[],
  now: Date,
): readonly Condition[] {
  return findings.reduce((list, finding) => withCondition(list, finding, now), conditions ?? []);
}

export function withoutCondition(
  conditions: readonly Condition[] | undefined,
  type: string,
): readonly Condition[] {
  const present = conditions ?? [];
  return conditionOf(present, type) ? present.filter((condition) => condition.type !== type) : present;
}

/** Only a new status is a transition: a new reason or message keeps the moment. */
function turned(before: Condition | undefined, finding: ConditionUpdate, now: Date): Condition {
  const { type, status, observedGeneration, reason, message } = finding;
  if (!TYPE.test(type)) throw new RangeError(`condition type '${type}' is not a qualified name`);
  if (!REASON.test(reason)) {
    throw new RangeError(`reason '${reason}' of condition ${type} is not CamelCase of at most 64 letters`);
  }
  return {
    type,
    status,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : seconds(now),
    reason,
    message: shortened(message),
  };
}

function same(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    a.observedGeneration === b.observedGeneration &&
    a.reason === b.reason &&
    a.message === b.message
  );
}

/** metav1.Time has whole seconds. */
function seconds(moment: Date): string {
  return moment.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** A message that is too long must not cost us the whole status: it is cut, and says so. */
function shortened(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  const points = Array.from(message);
  return points.length <= MAX_MESSAGE ? message : `${points.slice(0, MAX_MESSAGE - 1).join('')}…`;
}
