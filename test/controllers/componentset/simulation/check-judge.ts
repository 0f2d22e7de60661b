/** Judges a rollout by the raw results of its checks, without the planner: no batch is left before its checks have passed. */
import type { Check } from '../../../../src/api/generated/types.ts';
import type { MemberState } from '../../../../src/controllers/componentset/machine/member-state.ts';
import type { OpenBatch, RolloutProgress } from '../../../../src/controllers/componentset/rollout/input.ts';
import type { CheckRun } from '../../../../src/rollout/checks/gate.ts';
import { completes, isProven, isSameRollout } from './batch-judge.ts';

export interface JudgedChecks {
  readonly checks: readonly Check[];
  readonly members: readonly MemberState[];
  /** All that ever ran, in order. */
  readonly runs: readonly CheckRun[];
}

/** Returns what must not have been written. */
export function checkViolation(
  before: RolloutProgress,
  after: RolloutProgress,
  judged: JudgedChecks,
): string | undefined {
  const { batch, updateRevision } = before;
  if (!batch || !isSameRollout(before, after) || isProven(before, updateRevision)) return undefined;
  const isOver = after.batch ? after.batch.index !== batch.index : completes(before, after);
  const isEmpty = !judged.members.some(
    (each) => each.revision === updateRevision && each.batch === batch.index,
  );
  return isOver && !isEmpty ? unpassed(before, batch, judged) : undefined;
}

function unpassed(
  before: RolloutProgress,
  batch: OpenBatch,
  { checks, members, runs }: JudgedChecks,
): string | undefined {
  const isLast = batch.index > 0 && members.every(({ revision }) => revision === before.updateRevision);
  const found = checks
    .filter(({ builtin, promql }) => !builtin && !(isLast && promql?.query.includes('${rest}')))
    .map(({ name, consecutiveSuccess }) => {
      const own = runs.filter(({ check, at }) => check === name && at >= batch.startedAt);
      const last = own.slice(-consecutiveSuccess).map(({ result }) => result);
      const hasPassed = last.length === consecutiveSuccess && last.every((result) => result === 'Passed');
      return hasPassed ? undefined : `batch ${batch.index} was left with check ${name}: ${last.join(', ')}`;
    });
  return found.find((violation) => violation !== undefined);
}
