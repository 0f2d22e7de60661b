/** Deletes the bootstrap tokens of Machines, as kubenode-machine. Every choice is made in plan.ts. */
import { MACHINES } from '../../api/generated/resources.ts';
import { machinesOf } from '../../api/machine/certificate-requests.ts';
import { ANNOTATION_BOOTSTRAP_TOKEN, NAMESPACE, PRINCIPAL_MACHINE } from '../../api/names.ts';
import { tokenRecordOf } from '../../api/secrets/bootstrap-token.ts';
import { CERTIFICATE_REQUESTS } from '../../kube/auth/certificate-requests.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { LEASES } from '../../kube/leader/record.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { deleteBootstrapToken } from './execute.ts';
import { observeToken } from './observe.ts';
import { planToken } from './plan.ts';

const FIELD_MANAGER = 'kubenode-bootstraptoken';

export function createBootstrapTokenController(): Controller {
  return {
    name: 'bootstraptoken',
    reads: [
      read(MACHINES, { changed: recordChanged }),
      read(CERTIFICATE_REQUESTS, { keys: machinesOf }),
      read(LEASES, { keys: ({ metadata }) => [metadata.name], changed: () => false }),
    ],
    writes: [`Machine.metadata.annotations[${ANNOTATION_BOOTSTRAP_TOKEN}]`],
    deletes: ['Secret'],
    fieldManager: FIELD_MANAGER,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_MACHINE },
    concurrency: 1,
    reconcile,
  };
}

/** While the host joins, its Lease is asked for this often. */
const JOINING_MS = 2000;

async function reconcile(name: string, context: ReconcileContext): Promise<ReconcileResult> {
  // A Machine of the API server is an object like any other.
  const machine = context.view(MACHINES).get(name) as KubeObject | undefined;
  const record = machine && tokenRecordOf(machine);
  if (!machine || !record?.secretUid) return {};
  const input = observeToken(name, record, context);
  const plan = planToken(input);
  if (plan.type === 'Keep') return plan.until ? { requeueAt: earlier(plan.until, input.now) } : {};
  await deleteBootstrapToken(machine, record, plan, context);
  return {};
}

function earlier(until: Date, now: Date): Date {
  return new Date(Math.min(until.getTime(), now.getTime() + JOINING_MS));
}

function recordChanged(before: KubeObject, after: KubeObject): boolean {
  const [one, other] = [before, after].map(
    ({ metadata }) => metadata.annotations?.[ANNOTATION_BOOTSTRAP_TOKEN],
  );
  return one !== other;
}
