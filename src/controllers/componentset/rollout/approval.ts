/** Whether a person has to approve what follows a batch. Pure. */
import type { Rollout } from '../../../api/generated/types.ts';
import type { Explanation } from '../../../rollout/explanation.ts';

/** An approval holds for that revision only. */
export function approvalReason(
  rollout: Pick<Rollout, 'canary' | 'gate' | 'approved'>,
  revision: string,
  batch: number,
): Explanation | undefined {
  const { approved } = rollout;
  const isGiven = approved?.revision === revision && approved.throughBatch >= batch;
  if (isGiven || !isNeeded(rollout, batch)) return undefined;
  const because = `batch ${batch} of ${revision} waits for approval: kubenode rollout approve`;
  return { reason: 'ApprovalRequired', because };
}

function isNeeded({ canary, gate }: Pick<Rollout, 'canary' | 'gate'>, batch: number): boolean {
  if (gate.approval === 'EveryBatch') return true;
  return batch === 0 && (gate.approval === 'FirstBatch' || canary?.hold === true);
}
