/** The health of one applied object, as its status shows it. */
import { type Condition, conditionOf, isConditionReason } from '../objects/conditions.ts';
import { isRecord, listAt, textAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';

export type HealthFinding =
  | { readonly state: 'healthy' }
  | {
      readonly state: 'progressing' | 'failed' | 'unknown';
      readonly reason: string;
      readonly because: string;
      readonly since?: Date;
      /** The object's own controller reports a failure when this takes too long. */
      readonly hasDeadline?: boolean;
    };

export const HEALTHY: HealthFinding = { state: 'healthy' };

export function progressing(
  reason: string,
  because: string,
  more: { since?: Date; hasDeadline?: boolean } = {},
): HealthFinding {
  return { state: 'progressing', reason, because, ...more };
}

export function failed(reason: string, because: string, since?: Date): HealthFinding {
  return { state: 'failed', reason, because, ...(since === undefined ? {} : { since }) };
}

export function conditionsOf(object: KubeObject): readonly Condition[] {
  // Any controller may have written them, so entries without the shape of a condition are ignored.
  return listAt(object, 'status', 'conditions').filter(
    (item): item is Condition =>
      isRecord(item) && textAt(item, 'type') !== undefined && textAt(item, 'status') !== undefined,
  );
}

export function conditionAt(object: KubeObject, type: string): Condition | undefined {
  return conditionOf(conditionsOf(object), type);
}

/** Reason, message and time of a condition, with defaults for what is missing or malformed. */
export function explain(condition: Condition): {
  readonly reason: string;
  readonly because: string;
  readonly since?: Date;
} {
  const reason = isConditionReason(condition.reason ?? '') ? condition.reason : condition.type;
  const since = new Date(condition.lastTransitionTime ?? Number.NaN);
  return {
    reason,
    because: `${condition.type}=${condition.status}, ${condition.message || reason}`,
    ...(Number.isNaN(since.getTime()) ? {} : { since }),
  };
}
