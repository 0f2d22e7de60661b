/** Reads what was done with the bootstrap token of a Machine: the requests of its user, and the Lease of the agent. */
import { requestsBy } from '../../api/machine/certificate-requests.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { BOOTSTRAP_USER_PREFIX, NAMESPACE_AGENTS } from '../../api/names.ts';
import type { BootstrapTokenRecord } from '../../api/secrets/bootstrap-token.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
  decisionOf,
} from '../../kube/auth/certificate-requests.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { TokenInput, TokenUse } from './plan.ts';

export function observeToken(
  machine: string,
  record: BootstrapTokenRecord,
  context: ReconcileContext,
): TokenInput {
  const requests = context.view(CERTIFICATE_REQUESTS);
  const lease = context.view(LEASES).get(`${NAMESPACE_AGENTS}/${machine}`);
  return {
    record,
    uses: requestsBy(`${BOOTSTRAP_USER_PREFIX}${record.id}`, requests).map(useOf),
    heartbeatAt: parseTime(textAt(lease, 'spec', 'renewTime')),
    now: context.clock.now(),
  };
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
