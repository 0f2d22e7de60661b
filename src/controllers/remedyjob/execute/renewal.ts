/** The renewal of the grant of a job before each step that disturbs the node: its denial is an answer, and names what to wait for. */
import type { Denial, GrantPort } from '../../../api/grants.ts';
import type { JobInput } from '../observe/observe.ts';
import { type JobChange, jobFinding, type RepairWait } from '../plan/decision.ts';

export type Renewal =
  | { readonly isGranted: true; readonly change: JobChange }
  | { readonly isGranted: false; readonly change: JobChange; readonly requeueAt: Date };

const RETRY_MS = 5000;
/** Also when time alone would change the answer later: people change limits. */
const RETRY_AT_MOST_MS = 30_000;
/** Windows and freezes: time alone ends them. */
const WINDOWS: readonly string[] = ['QuietWindow', 'Freeze', 'RunsIntoWindow'];

export async function renewJobGrant(
  grants: Pick<GrantPort, 'renew'>,
  { job, now }: JobInput,
): Promise<Renewal> {
  const { id, fence } = job.spec.grant;
  const { faultClass } = job.spec.cause;
  const [answer] = await grants.renew([{ id, fence, faultClass }]);
  if (answer?.granted) {
    const grant = { notAfter: answer.notAfter, renewedAt: now.toISOString() };
    const findings = [jobFinding('Guarded', 'True', 'GrantValid', `grant ${id} was renewed`)];
    return { isGranted: true, change: { grant, findings } };
  }
  return deniedRenewal(answer, now);
}

/** A grant that the ledger does not know, or that has ended, never comes back. */
function deniedRenewal(denial: Denial | undefined, now: Date): Renewal {
  const { reason, message, retryAt } = denial ?? { reason: 'LedgerUnavailable', message: 'no answer' };
  const text = `${reason}: ${message}`;
  if (reason === 'AskInvalid') {
    const findings = [jobFinding('Guarded', 'False', 'GrantLost', text)];
    return { isGranted: false, change: { findings }, requeueAt: now };
  }
  const wait: RepairWait = {
    reason: WINDOWS.includes(reason) ? 'OutsideWindow' : 'GrantDenied',
    message: text,
    isBlocked: true,
  };
  const findings = [jobFinding('Guarded', 'False', reason, message)];
  const retryMs = Math.max(retryAt?.getTime() ?? 0, now.getTime() + RETRY_MS);
  const requeueAt = new Date(Math.min(retryMs, now.getTime() + RETRY_AT_MOST_MS));
  return { isGranted: false, change: { findings, wait }, requeueAt };
}
