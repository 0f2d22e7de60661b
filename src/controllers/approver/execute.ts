/** Writes the decision about a certificate request. It is final on the API server, so it is written once, with the version of the request that was judged. */
import { EVENT_PREFIX, MANAGER_APPROVER } from '../../api/names.ts';
import { CERTIFICATE_REQUESTS, type CertificateRequestObject } from '../../kube/auth/certificate-requests.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import type { Counter } from '../../kube/process/metrics.ts';
import { wholeSeconds } from '../../os/dates.ts';
import type { Approval } from './plan.ts';

export interface ApproverOptions {
  /** The client that acts as kubenode-approver: it writes the subresource `approval`, which no apply reaches. */
  readonly client: Pick<Client, 'replace'>;
  /** Whether this process holds the Lease. */
  readonly leads: () => boolean;
  readonly decisions?: Counter<'result' | 'reason'>;
}

type Decision = Exclude<Approval, { type: 'Leave' | 'Wait' }>;

export async function decideRequest(
  { client, leads, decisions }: ApproverOptions,
  { object, approval }: { readonly object: CertificateRequestObject; readonly approval: Decision },
  context: ReconcileContext,
): Promise<void> {
  const { reason, because, type: act } = approval;
  const type = act === 'Approve' ? 'Approved' : 'Denied';
  const lastUpdateTime = wholeSeconds(context.clock.now());
  const condition = { type, status: 'True', reason, message: because, lastUpdateTime };
  const decided = { ...object, status: { ...object.status, conditions: [condition] } };
  try {
    await client.replace(CERTIFICATE_REQUESTS, decided, {
      subresource: 'approval',
      fieldManager: MANAGER_APPROVER,
      signal: context.signal,
      beforeSend: () => {
        if (!leads()) throw new Error('the Lease is not held');
      },
    });
  } catch (error) {
    // It was changed or removed meanwhile: the next reconcile judges what is there then.
    if (isKubeError(error, 'Conflict', 'NotFound')) return;
    throw error;
  }
  context.log.info('certificate request decided', { request: object.metadata.name, type, reason, because });
  decisions?.add({ result: type, reason });
  context.event(object, {
    type: act === 'Approve' ? 'Normal' : 'Warning',
    reason: `${EVENT_PREFIX[MANAGER_APPROVER]}${type}`,
    action: act,
    note: act === 'Approve' ? because : `${reason}: ${because}`,
  });
}
