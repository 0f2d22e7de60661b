/** The status of a request: what is done for the machine, and whether Cluster API is to replace it. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { KubenodeRemediation, RemediationStatus } from '../../../../api/clusterapi/remediation.ts';
import { type ConditionUpdate, withConditions } from '../../../../kube/objects/conditions.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { NOT_FOLLOWED, type RemediationDecision } from './judge.ts';

/** How the hand-back went; undefined: it was not due. */
export interface HandBackResult {
  readonly isDone: boolean;
  /** The reason of the condition HandedBack. */
  readonly reason: string;
  readonly message: string;
}

export function remediationStatus(
  decision: RemediationDecision,
  handBack: HandBackResult | undefined,
  now: Date,
): RemediationStatus {
  const { remediation, machine, job } = decision;
  const updates = [repairingOf(decision), handedBackOf(decision, handBack)];
  return {
    ...optional('machine', machine?.metadata.name ?? remediation.status?.machine),
    ...optional('job', job ?? remediation.status?.job),
    conditions: withConditions(remediation.status?.conditions, updates, now),
  };
}

export function isStatusChanged({ status }: KubenodeRemediation, next: RemediationStatus): boolean {
  return !isDeepStrictEqual(status ?? {}, next);
}

function repairingOf({ step, reason, because: message }: RemediationDecision): ConditionUpdate {
  const type = 'Repairing';
  // Its time tells since when no Machine was found.
  if (reason === NOT_FOLLOWED && step !== 'HandedBack') return { type, status: 'Unknown', reason, message };
  if (step === 'Repairing') return { type, status: 'True', reason, message };
  const isEnded = step === 'HandBack' || step === 'HandedBack';
  return { type, status: 'False', reason: isEnded ? 'Ended' : reason, message };
}

function handedBackOf(
  { step, reason, because }: RemediationDecision,
  handBack: HandBackResult | undefined,
): ConditionUpdate {
  const type = 'HandedBack';
  if (step === 'HandedBack') return { type, status: 'True', reason, message: because };
  if (handBack) return { type, status: handBack.isDone ? 'True' : 'False', ...worded(handBack) };
  return { type, status: 'False', reason: 'RepairsFirst', message: 'repairs are tried first' };
}

function worded({ reason, message }: HandBackResult): Pick<ConditionUpdate, 'reason' | 'message'> {
  return { reason, message };
}
