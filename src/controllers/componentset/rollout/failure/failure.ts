/** When a rollout has failed. Pure. */
import type { Explanation } from '../../../../rollout/explanation.ts';
import { resolveIntOrPercent } from '../../../../rollout/int-or-percent.ts';
import type { MemberState } from '../../machine/member-state.ts';
import { batchGate } from '../checks/gate.ts';
import type { RolloutInput, RolloutProgress } from '../input.ts';

/** A machine of an earlier batch that became unhealthy since is out of service, but does not fail this batch. */
export function failedMembers(
  members: readonly MemberState[],
  { updateRevision, batch }: RolloutProgress,
): readonly MemberState[] {
  return members.filter(
    ({ revision, step, batch: its }) =>
      revision === updateRevision && (step === 'Failed' || (step === 'Unhealthy' && its === batch?.index)),
  );
}

/** Why no further machine may have the revision; undefined: it goes on. */
export function failureReason(input: RolloutInput, progress: RolloutProgress): Explanation | undefined {
  return budgetReason(input, progress) ?? unprovenReason(input, progress) ?? gateReason(input, progress);
}

function budgetReason({ set, members }: RolloutInput, progress: RolloutProgress): Explanation | undefined {
  const { maxFailed, per } = set.spec.rollout.failure;
  const { batch } = progress;
  const failed = failedMembers(members, progress).filter(
    (member) => per === 'Rollout' || member.batch === batch?.index,
  );
  const most = resolveIntOrPercent(maxFailed, batch?.total ?? members.length);
  if (failed.length <= most) return undefined;
  const [first] = failed;
  const because = `machines failed: ${failed.length}, allowed: ${most}. ${first?.name}: ${first?.because}`;
  return {
    reason: 'FailureBudgetSpent',
    because,
    ...(first && { blocker: { kind: 'Machine', name: first.name } }),
  };
}

/** A batch in which every machine failed proves nothing, also within the budget. */
function unprovenReason({ members }: RolloutInput, progress: RolloutProgress): Explanation | undefined {
  const { batch, updateRevision } = progress;
  const own = members.filter((each) => each.revision === updateRevision && each.batch === batch?.index);
  const failed = failedMembers(own, progress);
  if (!batch || own.length === 0 || own.length < batch.size || failed.length < own.length) return undefined;
  return { reason: 'BatchUnproven', because: `every machine of batch ${batch.index + 1} failed` };
}

/** A check counts from the moment in which the batch is settled. */
function gateReason(input: RolloutInput, progress: RolloutProgress): Explanation | undefined {
  if (progress.batch?.soakUntil === undefined) return undefined;
  const gate = batchGate(input, progress);
  return gate.state === 'Failed' ? { reason: 'GateFailed', because: gate.because } : undefined;
}
