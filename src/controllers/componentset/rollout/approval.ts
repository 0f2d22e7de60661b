/** Whether a person has to approve what follows a batch. Pure. */
import type { Rollout } from '../../../api/generated/types.ts';
import { versionsText } from '../../../api/machine/versions-text.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Revision } from '../revision/resolve.ts';

export interface ApprovedBatch {
  readonly index: number;
  /** That was rolled out: batch 0 or, where no machine of the canary was started, batch 1. */
  readonly isFirst: boolean;
}

/** An approval holds for that revision only. */
export function approvalReason(
  rollout: Pick<Rollout, 'canary' | 'gate' | 'approved'>,
  { name, components }: Revision,
  batch: ApprovedBatch,
): Explanation | undefined {
  const { approved } = rollout;
  const isGiven = approved?.revision === name && approved.throughBatch >= batch.index;
  if (isGiven || !isNeeded(rollout, batch)) return undefined;
  const because = `batch ${batch.index + 1} of ${versionsText(components)} waits for approval: kubenode rollout approve`;
  return { reason: 'ApprovalRequired', because };
}

function isNeeded({ canary, gate }: Pick<Rollout, 'canary' | 'gate'>, { isFirst }: ApprovedBatch): boolean {
  if (gate.approval === 'EveryBatch') return true;
  return isFirst && (gate.approval === 'FirstBatch' || canary?.hold === true);
}
