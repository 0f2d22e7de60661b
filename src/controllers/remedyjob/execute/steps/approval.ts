/**
 * Asks for the approval of a person, as every other approval is asked for: the Defender denies the ask until a policy's approver
 * has answered with `kubenode defender approve|refuse`, and the answer is in the ledger.
 */
import type { DefenderLedger, LedgerApproval, RemedyOperationJob } from '../../../../api/generated/types.ts';
import type { Denial, Grant, GrantPort } from '../../../../api/grants.ts';
import { ownValue } from '../../../../kube/objects/json.ts';

export interface ApprovalPort {
  ask(job: RemedyOperationJob, since: Date, now: Date): Promise<ApprovalAnswer>;
}

export interface ApprovalAnswer {
  readonly state: 'Approved' | 'Refused' | 'Pending';
  readonly message: string;
}

const ACTION = 'RequestApproval';
const ANSWERED: readonly string[] = ['ApprovalPending', 'ApprovalRefused', 'ApprovalTimedOut'];

export function createApprovals(
  grants: Pick<GrantPort, 'ask' | 'settle'>,
  ledger: () => DefenderLedger | undefined,
): ApprovalPort {
  return {
    async ask(job, since, now) {
      const found = answerSince(job, ledger(), since);
      if (found) return found;
      const [answer] = await grants.ask([askFor(job, now)]);
      if (answer?.granted && answer.id !== job.spec.grant.id) await giveBack(grants, answer);
      return { state: 'Pending', message: pendingMessage(job, answer) };
    },
  };
}

function askFor({ metadata, spec }: RemedyOperationJob, now: Date): Parameters<GrantPort['ask']>[0][number] {
  const { remedier, commit, ruleDigest, faultClass } = spec.cause;
  return {
    holder: {
      kind: 'RemedyOperationJob',
      name: metadata.name,
      origin: `NodeRemedier/${remedier}`,
      revision: commit,
    },
    machine: spec.machine.name,
    nodeUID: spec.node.uid,
    action: ACTION,
    risk: 'None',
    ruleDigest,
    faultClass,
    factsAt: now,
    expectedSeconds: 0,
  };
}

/** An answer from before the question is one to another question. */
function answerSince(
  { metadata, spec }: RemedyOperationJob,
  ledger: DefenderLedger | undefined,
  since: Date,
): ApprovalAnswer | undefined {
  const answer = ownValue(ledger?.spec.approvals ?? {}, spec.machine.name);
  if (!answer || !isAnswerOf(answer, metadata.name)) return undefined;
  if (Date.parse(answer.at) < since.getTime()) return undefined;
  const { decision, by, reason } = answer;
  return {
    state: decision,
    message: `${decision === 'Approved' ? 'approved' : 'refused'} by ${by}${reason ? `: ${reason}` : ''}`,
  };
}

function isAnswerOf({ action, holder, holderKind }: LedgerApproval, job: string): boolean {
  return action === ACTION && holder === job && (holderKind ?? 'RemedyOperationJob') === 'RemedyOperationJob';
}

/** Never two grants for one job: the act that waits has its own. */
async function giveBack(grants: Pick<GrantPort, 'settle'>, { id, fence }: Grant): Promise<void> {
  await grants.settle([{ id, fence, outcome: 'Unused' }]);
}

function pendingMessage({ spec }: RemedyOperationJob, answer: Grant | Denial | undefined): string {
  const causes = answer && !answer.granted ? [answer, ...answer.also] : [];
  const pending = causes.find(({ reason }) => ANSWERED.includes(reason));
  if (pending) return `${pending.message}: kubenode defender approve ${spec.machine.name}`;
  if (!answer || causes.some(({ reason }) => reason === 'LedgerUnavailable')) {
    return `the Defender does not answer: ${causes[0]?.message ?? 'no answer'}`;
  }
  return 'no DefenderPolicy has an approval rule for RequestApproval, so that no answer is possible';
}
