/** The condition of a step that failed, in this process or in an earlier one. Pure. */
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { type Finding, finding } from '../finding.ts';
import type { ImportFailure } from './failure.ts';
import type { ImportInput } from './plan.ts';

export function failedFinding(type: string, { reason, message, blocker, isFinal }: ImportFailure): Finding {
  return { ...finding(type, 'False', reason, message), ...optional('blocker', blocker), isFinal };
}

/** Returns the finding of an attempt that failed for good, also in an earlier process. */
export function failedForGood(type: string, { machine, attempt }: ImportInput): Finding | undefined {
  const { conditions, import: recorded } = machine.status ?? {};
  const before = conditionOf(conditions, type);
  if (recorded?.failedAttempt !== attempt || before?.status !== 'False') return undefined;
  return { ...finding(type, 'False', before.reason, before.message), isFinal: true };
}
