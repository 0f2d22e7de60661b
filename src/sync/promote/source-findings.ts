/** Reports what was found at the head of a Pipeline, as conditions and as what the Pipeline waits for. Pure. */
import type { ConditionUpdate } from '../../kube/objects/conditions.ts';
import type { Explanation } from '../../rollout/explanation.ts';
import type { CommitStatusReport, HeadReport, HubProblem, WebhookReport } from '../commits.ts';

/** Returns what keeps a head from being promoted at all. */
export function sourceProblem(head: HeadReport): Explanation | undefined {
  const { unread, unopened, hub } = head;
  if (unopened) return { reason: unopened.reason, because: unopened.message };
  const refusal = headRefusal(head);
  if (refusal) return { reason: refusal.reason, because: refusal.message };
  if (unread !== undefined) return { reason: 'Stale', because: unread };
  return renderingWait(head) ?? (hub && { reason: hub.reason, because: hubMessage(hub) });
}

/**
 * Returns the wait for the render of the head. Undefined once the render and the checks of the head have ended, and while the
 * repository cannot be read.
 */
export function renderingWait({ verdict, commit, unread, unopened }: HeadReport): Explanation | undefined {
  if (verdict !== 'Rendering' || unread !== undefined || unopened) return undefined;
  return { reason: 'Rendering', because: `commit ${commit ?? 'unknown'} is being rendered and checked` };
}

export function hubFinding(hub: HubProblem): ConditionUpdate {
  const type = hub.state === 'Held' ? 'Held' : 'Stalled';
  return { type, status: 'True', reason: hub.reason, message: hubMessage(hub) };
}

/** Returns the conditions of the source. An untrusted head is not rendered, so nothing is reported about its render. */
export function sourceFindings(head: HeadReport): readonly ConditionUpdate[] {
  const isTrusted = head.verdict !== 'NotDescendant' && head.verdict !== 'BadSignature';
  const isRead = isTrusted && !head.unopened;
  const webhook = head.webhook ? [webhookReady(head.webhook)] : [];
  const commitStatus = head.commitStatus ? [commitStatusReady(head.commitStatus)] : [];
  const plans = head.planComments ? [planCommentsReady(head.planComments)] : [];
  const reverts = head.reverts ? [revertReady(head.reverts)] : [];
  const read = isRead ? [rendered(head)] : [];
  return [sourceReady(head, isTrusted), ...read, ...webhook, ...commitStatus, ...plans, ...reverts];
}

function webhookReady({ problem }: WebhookReport): ConditionUpdate {
  const type = 'WebhookReady';
  return problem
    ? { type, status: 'False', ...problem }
    : { type, status: 'True', reason: 'Received', message: 'a push of the ref makes sync read it at once' };
}

function commitStatusReady({ problem }: CommitStatusReport): ConditionUpdate {
  const type = 'CommitStatusReady';
  const message = 'the git host accepts the commit statuses';
  return problem ? { type, ...problem } : { type, status: 'True', reason: 'Accepted', message };
}

function planCommentsReady({ problem }: CommitStatusReport): ConditionUpdate {
  const type = 'PlanCommentsReady';
  const message = 'each open pull request has its plan as a comment';
  return problem ? { type, ...problem } : { type, status: 'True', reason: 'Accepted', message };
}

function revertReady({ problem, done }: CommitStatusReport): ConditionUpdate {
  const type = 'RevertReady';
  if (problem) return { type, ...problem };
  const ready = { reason: 'NoFailedStage', message: 'no failed stage waits for a revert' };
  return { type, status: 'True', ...(done ?? ready) };
}

function hubMessage({ message }: HubProblem): string {
  return `the hub's own objects: ${message}`;
}

function headRefusal({
  verdict,
  message,
}: HeadReport): { readonly reason: string; readonly message: string } | undefined {
  if (verdict === 'Accepted' || verdict === 'Rendering') return undefined;
  return { reason: verdict, message: message ?? verdict };
}

function sourceReady(head: HeadReport, isTrusted: boolean): ConditionUpdate {
  const type = 'SourceReady';
  const { unread, unopened, verdict } = head;
  if (unopened) return { type, status: 'False', ...unopened };
  if (unread !== undefined) return { type, status: 'Unknown', reason: 'Stale', message: unread };
  if (verdict === 'Rendering') return { type, status: 'True', reason: verdict, message: 'the ref was read' };
  const refusal = isTrusted ? undefined : headRefusal(head);
  return refusal
    ? { type, status: 'False', ...refusal }
    : { type, status: 'True', reason: 'Accepted', message: 'the ref was read and its head is accepted' };
}

function rendered(head: HeadReport): ConditionUpdate {
  const type = 'Rendered';
  const refusal = headRefusal(head);
  if (refusal) return { type, status: 'False', ...refusal };
  return head.verdict === 'Rendering'
    ? { type, status: 'Unknown', reason: 'Rendering', message: 'the head is being rendered and checked' }
    : { type, status: 'True', reason: 'Rendered', message: 'the head renders' };
}
