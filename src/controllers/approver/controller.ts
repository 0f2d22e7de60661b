/** Approves and denies the certificate requests of agents and their kubelets. Every choice is made in plan.ts. */
import { MACHINE_COMPONENTS, MACHINES } from '../../api/generated/resources.ts';
import { readAgentLeases } from '../../api/machine/agent-lease.ts';
import { MANAGER_APPROVER, NAMESPACE, PRINCIPAL_APPROVER } from '../../api/names.ts';
import { CERTIFICATE_REQUESTS } from '../../kube/auth/certificate-requests.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { type ApproverOptions, decideRequest } from './execute.ts';
import { observeForApproval, readRequest } from './observe.ts';
import { planApproval } from './plan.ts';

/** How long a request waits until it is judged again: what our view lacked has usually arrived by then. One that waits for long is judged less often. */
const RETRY_MS = 1000;
const MAX_RETRY_MS = 15_000;
const RETRY_PART_OF_AGE = 0.1;
const none = (): readonly string[] => [];

export function createApproverController(options: ApproverOptions): Controller {
  return {
    name: 'approver',
    reads: [
      read(CERTIFICATE_REQUESTS),
      read(MACHINES, { keys: none }),
      read(MACHINE_COMPONENTS, { keys: none }),
      readAgentLeases(none),
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
  const request = readRequest(object);
  const approval = planApproval(request, observeForApproval(context));
  if (approval.type === 'Leave') return {};
  if (approval.type === 'Wait') return { requeueAt: retryTime(context.clock.now(), request.createdAt) };
  await decideRequest(options, { object, approval }, context);
  return {};
}

function retryTime(now: Date, createdAt: Date): Date {
  const share = (now.getTime() - createdAt.getTime()) * RETRY_PART_OF_AGE;
  return new Date(now.getTime() + Math.min(MAX_RETRY_MS, Math.max(RETRY_MS, share)));
}
