/** What ends the wait of a job: a command, or time. Pure. */
import { DENY_REASONS } from '../../../../api/deny-reasons.ts';
import type { Wait } from '../../../../api/generated/types.ts';
import { ownValue } from '../../../../kube/objects/json.ts';
import { unblockHint } from '../../../fleet/unblock.ts';

/** `MACHINE` is replaced. */
const JOB_WAITS: Readonly<Record<string, string>> = {
  Agent: 'no action required while its agent answers: kubenode machine show MACHINE',
  Boot: 'no action required until the step times out: the machine boots',
  Condition: 'no action required until the step times out',
  Draining: 'no action required: its pods are being evicted',
  Evicting: 'no action required: its pods are being evicted',
  LeadTime: 'no action required: the next step begins when that time is over',
  LedgerUnavailable: 'run kubenode controllers for this cluster: the Defender does not answer',
};

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
  const own = ownValue(JOB_WAITS, waiting.reason);
  return own === undefined ? unblockHint(waiting) : own.replaceAll('MACHINE', machine);
}
