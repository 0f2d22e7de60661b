/** Creates and finds the certificate request of one key at the API server. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { ANNOTATION_MACHINE_UID } from '../../api/names.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
  decisionOf,
  requestText,
} from '../../kube/auth/certificate-requests.ts';
import type { Client } from '../../kube/client/client.ts';
import { unlessMissing } from '../../kube/client/errors.ts';
import {
  createCertificateRequest,
  parseCertificateRequest,
  publicKeySha256,
} from '../../os/x509/certificate-request.ts';
import type { RequestedName } from '../../os/x509/request.ts';
import type { RequestState } from './plan.ts';

export interface RequestOptions {
  /** The prefix of the name of the request, before that of the key: `kubenode-agent-n17`. */
  readonly requestPrefix: string;
  readonly name: RequestedName;
  readonly signer: string;
  readonly lifetimeSeconds: number;
  /**
   * Returns the identity with which a request is made now: that of the bootstrap token, or of the agent. Rejects when neither is possible.
   */
  readonly requester: () => Promise<RequestClient>;
}

export interface RequestClient {
  readonly client: Pick<Client, 'get' | 'create'>;
  /** The UID of the Machine. A token proves its own. */
  readonly machineUid?: string;
}

const USAGES = ['client auth', 'digital signature'];

export async function findRequest(
  { requester, requestPrefix }: RequestOptions,
  key: KeyObject,
): Promise<CertificateRequestObject | undefined> {
  const { client } = await requester();
  const name = requestName(requestPrefix, key);
  return await unlessMissing(client.get<CertificateRequestObject>(CERTIFICATE_REQUESTS, { name }));
}

export async function createRequest(options: RequestOptions, key: KeyObject): Promise<void> {
  const { requester, requestPrefix, name, signer, lifetimeSeconds } = options;
  const { client, machineUid } = await requester();
  const annotations = machineUid === undefined ? {} : { [ANNOTATION_MACHINE_UID]: machineUid };
  await client.create(CERTIFICATE_REQUESTS, {
    apiVersion: `${CERTIFICATE_REQUESTS.group}/${CERTIFICATE_REQUESTS.version}`,
    kind: CERTIFICATE_REQUESTS.kind,
    metadata: { name: requestName(requestPrefix, key), annotations },
    spec: {
      request: Buffer.from(createCertificateRequest(name, key)).toString('base64'),
      signerName: signer,
      usages: USAGES,
      expirationSeconds: lifetimeSeconds,
    },
  });
}

/** Returns the name of a request, which is the same for the same key, so that the request is found again after a restart. */
function requestName(prefix: string, key: KeyObject): string {
  return `${prefix}-${publicKeySha256(key).slice(0, 16)}`;
}

export function requestState(request: CertificateRequestObject | undefined, key: KeyObject): RequestState {
  if (!request) return { state: 'Missing' };
  const { state, because = '' } = decisionOf(request);
  if (state === 'Denied') return { state, because };
  return answeredState(request, publicKeySha256(key)) ?? { state };
}

/** Returns the state of a request that was answered; undefined while none was issued. */
function answeredState(request: CertificateRequestObject, sha256: string): RequestState | undefined {
  if (parseCertificateRequest(requestText(request))?.key.sha256 !== sha256) {
    return { state: 'Denied', because: 'the request of this name is for another key' };
  }
  if (request.status?.certificate === undefined) return undefined;
  const certificate = issuedCertificate(request);
  if (certificate && publicKeySha256(certificate.publicKey) === sha256) return { state: 'Issued' };
  return { state: 'Issued', problem: 'the certificate that was issued is not for this key' };
}

/** Returns the issued certificate; undefined for one that cannot be read, too. */
export function issuedCertificate(
  request: CertificateRequestObject | undefined,
): X509Certificate | undefined {
  const encoded = request?.status?.certificate;
  try {
    return encoded === undefined ? undefined : new X509Certificate(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}
