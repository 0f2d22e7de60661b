/** What can be said of one applied object. */
import { type Condition, conditionOf } from '../../kube/objects/conditions.ts';
import { isRecord, listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

export type Finding =
  | { readonly verdict: 'good' }
  | {
      readonly verdict: 'progressing' | 'failed' | 'unknown';
      readonly reason: string;
      readonly because: string;
      readonly since?: Date;
      /** The object's own controller gives up by itself when it takes too long. */
      readonly hasDeadline?: boolean;
    };

export const GOOD: Finding = { verdict: 'good' };

export function progressing(
  reason: string,
  because: string,
  more: { since?: Date; hasDeadline?: boolean } = {},
): Finding {
  return { verdict: 'progressing', reason, because, ...more };
}

export function failed(reason: string, because: string, since?: Date): Finding {
  return { verdict: 'failed', reason, because, ...(since === undefined ? {} : { since }) };
}

export function conditionsOf(object: KubeObject): readonly Condition[] {
  // Any controller may have written them: only what has the shape of a condition counts.
  return listAt(object, 'status', 'conditions').filter(
    (item): item is Condition =>
      isRecord(item) && textAt(item, 'type') !== undefined && textAt(item, 'status') !== undefined,
  );
}

export function conditionAt(object: KubeObject, type: string): Condition | undefined {
  return conditionOf(conditionsOf(object), type);
}

/** `reason: message` of a condition, however much of it is there, and since when. */
export function saying(condition: Condition): {
  readonly reason: string;
  readonly because: string;
  readonly since?: Date;
} {
  const reason = /^[A-Z][A-Za-z0-9]{0,63}$/.test(condition.reason ?? '') ? condition.reason : condition.type;
  const since = new Date(condition.lastTransitionTime ?? Number.NaN);
  return {
    reason,
    because: `${condition.type}=${condition.status}, ${condition.message || reason}`,
    ...(Number.isNaN(since.getTime()) ? {} : { since }),
  };
}
