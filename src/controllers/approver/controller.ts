/**
 * Approves and denies the certificate requests of agents and their kubelets. Every choice is made in plan.ts. A decision is final on
 * the API server, so it is written once, with the version of the request that was judged.
 */

import { MACHINE_COMPONENTS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineComponent } from '../../api/generated/types.ts';
import { requestsBy, requestsFor } from '../../api/machine/certificate-requests.ts';
import {
  EVENT_PREFIX,
  MANAGER_APPROVER,
  NAMESPACE,
  NAMESPACE_AGENTS,
  PRINCIPAL_APPROVER,
} from '../../api/names.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
  decisionOf,
} from '../../kube/auth/certificate-requests.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { valueAt } from '../../kube/objects/json.ts';
import type { Counter } from '../../kube/process/metrics.ts';
import { wholeSeconds } from '../../os/dates.ts';
import type { ApproverInput } from './observe.ts';
import { type Approval, planApproval } from './plan.ts';
import { readRequest } from './read-request.ts';
import type { AgentRequest } from './request.ts';

export interface ApproverOptions {
  /** The client that acts as kubenode-approver: it writes the subresource `approval`, which no apply reaches. */
  readonly client: Pick<Client, 'replace'>;
  /** Whether this process holds the Lease. */
  readonly leads: () => boolean;
  readonly decisions?: Counter<'result' | 'reason'>;
}

/** How long a request waits until it is judged again: what our view lacked has usually arrived by then. */
const RETRY_MS = 1000;
const RENEWED = 'renewed';
const none = (): readonly string[] => [];

export function createApproverController(options: ApproverOptions): Controller {
  return {
    name: 'approver',
    reads: [
      read(CERTIFICATE_REQUESTS),
      read(MACHINES, { keys: none }),
      read(MACHINE_COMPONENTS, { keys: none }),
      read(LEASES, { keys: none, ages: { [RENEWED]: (lease) => valueAt(lease, 'spec', 'renewTime') } }),
    ],
    writes: [],
    fieldManager: MANAGER_APPROVER,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_APPROVER },
    // One after the other: each one sees what was approved before it.
    concurrency: 1,
    reconcile: (name, context) => reconcile(options, name, context),
  };
}

async function reconcile(
  options: ApproverOptions,
  name: string,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const object = context.view(CERTIFICATE_REQUESTS).get(name);
  if (!object) return {};
  const approval = planApproval(readRequest(object), snapshotOf(context));
  if (approval.type === 'Leave') return {};
  if (approval.type === 'Wait') return { requeueAt: new Date(+context.clock.now() + RETRY_MS) };
  await decide(options, { object, approval }, context);
  return {};
}

function snapshotOf(context: ReconcileContext): ApproverInput {
  return {
    now: context.clock.now(),
    machine: (name) => context.view<Machine>(MACHINES).get(name),
    component: (ref) => context.view<MachineComponent>(MACHINE_COMPONENTS).get(ref),
    heartbeatAgeMs: (machine) => context.ageMs(LEASES, `${NAMESPACE_AGENTS}/${machine}`, RENEWED),
    approvedBy: (username) => approved(requestsBy(username, context.view(CERTIFICATE_REQUESTS))),
    approvedFor: (machine) => approved(requestsFor(machine, context.view(CERTIFICATE_REQUESTS))),
  };
}

function approved(requests: readonly CertificateRequestObject[]): readonly AgentRequest[] {
  return requests.filter((each) => decisionOf(each).state === 'Approved').map(readRequest);
}

type Decision = Exclude<Approval, { type: 'Leave' | 'Wait' }>;

async function decide(
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
