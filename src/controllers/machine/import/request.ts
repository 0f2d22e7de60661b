/** The certificate request that an import creates for the agent of its host. Pure. */
import type { Machine } from '../../../api/generated/types.ts';
import { type IndexedRequests, requestsFor } from '../../../api/machine/certificate-requests.ts';
import {
  ANNOTATION_MACHINE_UID,
  PRINCIPAL_MACHINE,
  SIGNER_AGENT,
  serviceAccountUser,
} from '../../../api/names.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
} from '../../../kube/auth/certificate-requests.ts';
import { byCode, digestOf } from '../../../kube/objects/digest.ts';
import { parseCertificateRequest } from '../../../os/x509/certificate-request.ts';

/** The life of the first certificate; the agent renews it long before its end. */
const WEEK_SECONDS = 604_800;
const IMPORTER = serviceAccountUser(PRINCIPAL_MACHINE);
const USAGES = ['client auth', 'digital signature'];

/** The same key gets the same name: the request of a controller that was killed is found again. */
export function certificateRequest(
  { metadata: { name, uid = '' } }: Machine,
  attempt: string,
  pem: string,
): CertificateRequestObject {
  const key = parseCertificateRequest(pem)?.key.sha256 ?? digestOf(pem);
  return {
    apiVersion: `${CERTIFICATE_REQUESTS.group}/${CERTIFICATE_REQUESTS.version}`,
    kind: CERTIFICATE_REQUESTS.kind,
    metadata: {
      name: `${prefixOf(name, attempt)}${digestOf(key).slice(7, 15)}`,
      annotations: { [ANNOTATION_MACHINE_UID]: uid },
    },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: SIGNER_AGENT,
      usages: USAGES,
      expirationSeconds: WEEK_SECONDS,
    },
  };
}

/** Returns the newest request of this attempt: another attempt is not answered by the requests before it. */
export function findImportRequest(
  { metadata: { name } }: Machine,
  attempt: string,
  requests: IndexedRequests,
): CertificateRequestObject | undefined {
  return requestsFor(name, requests)
    .filter(({ metadata, spec }) => isOwn(spec) && metadata.name.startsWith(prefixOf(name, attempt)))
    .toSorted((a, b) => byCode(orderOf(a), orderOf(b)))
    .at(-1);
}

/** Others may create requests, too; they are not answered on the host. */
function isOwn({ username = IMPORTER }: CertificateRequestObject['spec']): boolean {
  return username === IMPORTER;
}

function orderOf({ metadata: { creationTimestamp = '', name } }: CertificateRequestObject): string {
  return `${creationTimestamp} ${name}`;
}

function prefixOf(machine: string, attempt: string): string {
  return `kubenode-import-${machine}-${attempt}-`;
}
