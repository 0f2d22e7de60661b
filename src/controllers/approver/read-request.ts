/** Reads a certificate request of the API server. */
import { ANNOTATION_MACHINE_UID } from '../../api/names.ts';
import {
  type CertificateRequestObject,
  decisionOf,
  requestText,
} from '../../kube/auth/certificate-requests.ts';
import { parseCertificateRequest } from '../../os/x509/certificate-request.ts';
import type { AgentRequest } from './request.ts';

export function readRequest(object: CertificateRequestObject): AgentRequest {
  const { metadata, spec } = object;
  const { username = '', groups = [], usages = [] } = spec;
  const { state, at } = decisionOf(object);
  return {
    name: metadata.name,
    signer: spec.signerName,
    username,
    groups,
    usages,
    expirationSeconds: spec.expirationSeconds,
    createdAt: new Date(metadata.creationTimestamp ?? 0),
    machineUid: metadata.annotations?.[ANNOTATION_MACHINE_UID],
    state,
    approvedAt: state === 'Approved' ? at : undefined,
    content: parseCertificateRequest(requestText(object)),
  };
}
