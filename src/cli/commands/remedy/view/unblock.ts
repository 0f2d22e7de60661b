/** What ends the wait of a job: a command, or time. Pure. */
import { DENY_REASONS } from '../../../../api/deny-reasons.ts';
import type { Wait } from '../../../../api/generated/types.ts';
import { unblockHint } from '../../../fleet/unblock.ts';

const ANSWERS: readonly string[] = ['ApprovalRequired', 'ApprovalPending', 'ApprovalTimedOut'];

/** A person has to answer. */
export function isApprovalWait({ reason }: Wait): boolean {
  return ANSWERS.includes(reason);
}

export function jobUnblock(waiting: Wait, machine: string): string {
  if (isApprovalWait(waiting)) {
    return `kubenode defender approve ${machine}, or kubenode defender refuse ${machine}`;
  }
  if (DENY_REASONS.some((reason) => reason === waiting.reason)) {
    return `kubenode why machine ${machine} lists what is in the way`;
  }
  return unblockHint(waiting);
}
