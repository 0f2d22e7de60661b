/** CertificateSigningRequests, as the API server keeps them. */
import type { KubeObject, Resource } from '../objects/object.ts';

/** A request for a certificate, as a signer of the cluster issues it. */
export const CERTIFICATE_REQUESTS: Resource<CertificateRequestObject> = {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  namespaced: false,
};

export interface CertificateRequestObject extends KubeObject {
  readonly spec: {
    /** Base64 of the PEM text. */
    readonly request: string;
    readonly signerName: string;
    readonly usages?: readonly string[];
    readonly expirationSeconds?: number;
    /** Who created it, as the server authenticated them. */
    readonly username?: string;
    readonly groups?: readonly string[];
  };
  readonly status?: {
    /** Base64 of the PEM text. */
    readonly certificate?: string;
    readonly conditions?: readonly CertificateRequestCondition[];
  };
}

export interface CertificateRequestCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastUpdateTime?: string;
}

export interface RequestDecision {
  readonly state: 'Pending' | 'Approved' | 'Denied';
  readonly at?: Date;
  /** `reason: message` of the decision. */
  readonly because?: string;
}

export function decisionOf({ metadata, status }: CertificateRequestObject): RequestDecision {
  const decided = decidingCondition(status?.conditions ?? []);
  if (!decided) return { state: 'Pending' };
  const state = decided.type === 'Approved' ? 'Approved' : 'Denied';
  const at = new Date(decided.lastUpdateTime ?? metadata.creationTimestamp ?? 0);
  return { state, at, because: textOf(decided) };
}

function textOf({ type, reason = type, message = '' }: CertificateRequestCondition): string {
  return `${reason}: ${message}`;
}

/** A request that failed after its approval counts as denied. */
function decidingCondition(
  conditions: readonly CertificateRequestCondition[],
): CertificateRequestCondition | undefined {
  const denial = conditions.find(({ type }) => type === 'Denied' || type === 'Failed');
  return denial ?? conditions.find(({ type }) => type === 'Approved');
}

/** The PEM text of the request. */
export function requestText({ spec }: CertificateRequestObject): string {
  return Buffer.from(spec.request, 'base64').toString('latin1');
}
