/** Deletes the bootstrap tokens of Machines, as kubenode-machine. Every choice is made in plan.ts. */
import { MACHINES } from '../../api/generated/resources.ts';
import { machinesOf, requestsBy } from '../../api/machine/certificate-requests.ts';
import {
  ANNOTATION_BOOTSTRAP_TOKEN,
  BOOTSTRAP_USER_PREFIX,
  bootstrapTokenSecret,
  NAMESPACE,
  NAMESPACE_AGENTS,
  NAMESPACE_KUBE_SYSTEM,
  PRINCIPAL_MACHINE,
} from '../../api/names.ts';
import { formatTokenRecord, tokenRecordOf } from '../../api/secrets/bootstrap-token.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
  decisionOf,
} from '../../kube/auth/certificate-requests.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { pointerTo } from '../../kube/controller/writes/json-patch.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { SECRETS } from '../../kube/objects/core-kinds.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { planToken, type TokenUse } from './plan.ts';

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
  if (!record?.secretUid) return {};
  const now = context.clock.now();
  const requests = context.view(CERTIFICATE_REQUESTS);
  const uses = requestsBy(`${BOOTSTRAP_USER_PREFIX}${record.id}`, requests).map(useOf);
  const lease = context.view(LEASES).get(`${NAMESPACE_AGENTS}/${name}`);
  const renewed = textAt(lease, 'spec', 'renewTime');
  const heartbeatAt = renewed === undefined ? undefined : new Date(renewed);
  const plan = planToken({ record, uses, heartbeatAt, now });
  if (plan.type === 'Keep') return plan.until ? { requeueAt: earlier(plan.until, now) } : {};
  await deleteSecret(record.id, record.secretUid, context);
  context.log.info('bootstrap token deleted', { machine: name, token: record.id, because: plan.because });
  const { secretUid: _, ...rest } = record;
  const replacesAgent = record.replacesAgent && !plan.used;
  await context.patch(MACHINES, machine as never, [
    {
      op: 'replace',
      path: pointerTo('metadata', 'annotations', ANNOTATION_BOOTSTRAP_TOKEN),
      value: formatTokenRecord({ ...rest, replacesAgent }),
    },
  ]);
  return {};
}

/** By its UID: another token that got the same id stays. */
async function deleteSecret(id: string, uid: string, context: ReconcileContext): Promise<void> {
  const metadata = { name: bootstrapTokenSecret(id), namespace: NAMESPACE_KUBE_SYSTEM, uid };
  try {
    await context.delete(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata });
  } catch (error) {
    if (!isKubeError(error, 'Conflict')) throw error;
  }
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

function useOf(object: CertificateRequestObject): TokenUse {
  const { state, at } = decisionOf(object);
  return {
    name: object.metadata.name,
    decision: state,
    decidedAt: at,
    issued: object.status?.certificate !== undefined,
  };
}
