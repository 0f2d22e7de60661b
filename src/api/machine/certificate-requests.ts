/** Selects the certificate requests of one machine, and of one requester, from indexes: Kubernetes keeps each request for an hour. */
import { type CertificateRequestObject, requestText } from '../../kube/auth/certificate-requests.ts';
import type { Store } from '../../kube/cache/store.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { parseCertificateRequest } from '../../os/x509/certificate-request.ts';
import { AGENT_USER_PREFIX, NODE_USER_PREFIX, SIGNER_AGENT, SIGNER_KUBELET } from '../names.ts';

/** The kind of client whose certificate is requested. */
export type CertificateHolder = 'Agent' | 'Kubelet';

const HOLDERS: readonly (readonly [holder: CertificateHolder, signer: string, prefix: string])[] = [
  ['Agent', SIGNER_AGENT, AGENT_USER_PREFIX],
  ['Kubelet', SIGNER_KUBELET, NODE_USER_PREFIX],
];
const MACHINE = 'machine';
const REQUESTER = 'requester';

/** Indexes the view of CertificateSigningRequests by machine and by requester. */
export const CERTIFICATE_REQUEST_INDEXERS = {
  [MACHINE]: machinesOf,
  [REQUESTER]: ({ spec: { username = '' } }: CertificateRequestObject): readonly string[] => [username],
};

export type IndexedRequests = Pick<Store<CertificateRequestObject>, 'byIndex'>;

/** Returns the name of the Machine that the request is about; empty for other requests. */
export function machinesOf(request: CertificateRequestObject): readonly string[] {
  return HOLDERS.flatMap((holder) => nameIn(request, holder) ?? []);
}

export function requestsFor(machine: string, requests: IndexedRequests): readonly CertificateRequestObject[] {
  return requests.byIndex(MACHINE, machine);
}

export function requestsBy(username: string, requests: IndexedRequests): readonly CertificateRequestObject[] {
  return requests.byIndex(REQUESTER, username);
}

/** Returns the newest request: the host has given up those before it. */
export function lastRequestOf(
  machine: string,
  holder: CertificateHolder,
  requests: IndexedRequests,
): CertificateRequestObject | undefined {
  const signer = HOLDERS.find(([name]) => name === holder)?.[1];
  return requestsFor(machine, requests)
    .filter(({ spec }) => spec.signerName === signer)
    .toSorted((a, b) => byCode(orderOf(a), orderOf(b)))
    .at(-1);
}

function orderOf({ metadata: { creationTimestamp = '', name } }: CertificateRequestObject): string {
  return `${creationTimestamp} ${name}`;
}

function nameIn(
  request: CertificateRequestObject,
  [, signer, prefix]: (typeof HOLDERS)[number],
): string | undefined {
  if (request.spec.signerName !== signer) return undefined;
  const name = parseCertificateRequest(requestText(request))?.commonNames[0] ?? '';
  return name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : undefined;
}
