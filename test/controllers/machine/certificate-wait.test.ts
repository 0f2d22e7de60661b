import { describe, expect, it } from 'vitest';
import { formatTokenRecord } from '../../../src/api/secrets/bootstrap-token.ts';
import { certificateFinding } from '../../../src/controllers/machine/certificate-wait.ts';
import type { CertificateRequestObject } from '../../../src/kube/auth/certificate-requests.ts';
import { ago } from '../../support/builders.ts';
import { type ObservationParts, observation } from '../../support/machine-observations.ts';

type State = 'Pending' | 'Approved' | 'Denied' | 'Issued';

function request(state: State, username = 'system:bootstrap:abc123'): CertificateRequestObject {
  const type = state === 'Denied' ? 'Denied' : 'Approved';
  const conditions = [{ type, status: 'True', reason: 'WrongUid', message: 'expected another' }];
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr-1' },
    spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client', username },
    status: {
      conditions: state === 'Pending' ? [] : conditions,
      ...(state === 'Issued' ? { certificate: 'abc' } : {}),
    },
  };
}

function token(seconds: number, secretUid?: string): ObservationParts {
  const record = { id: 'abc123', expiresAt: ago(-seconds), epoch: 0, replacesAgent: false };
  const text = formatTokenRecord(secretUid === undefined ? record : { ...record, secretUid });
  return { metadata: { annotations: { 'kubenode.dev/bootstrap-token': text } } };
}

const NOT_JOINED: ObservationParts = { heartbeat: 'Missing', node: 'Missing' };
const CSR = 'CertificateSigningRequest/csr-1: certificate request csr-1';
const expired = { status: { agent: { certificateNotAfter: ago(10) } } };

const CONSOLE =
  'If this lasts, read its console output: it shows whether it boots, runs its user data, and reaches the agent download and the API server';

function instance(state: 'Pending' | 'Running'): ObservationParts {
  return {
    spec: { infra: { provider: 'aws', config: { imageId: 'ami-1' } } },
    status: { infra: { providerID: 'aws:///a/i-1', state } },
  };
}

function explain(parts: ObservationParts, agent?: CertificateRequestObject): string {
  const found = certificateFinding({ ...observation({ ...NOT_JOINED, ...parts }), requests: { agent } });
  const { reason, blocker, message } = found;
  return `${reason} ${blocker ? `${blocker.kind}/${blocker.name}` : '-'}: ${message}`;
}

describe('certificateFinding', () => {
  it.each<[what: string, parts: ObservationParts, agent: CertificateRequestObject | undefined, want: string]>(
    [
      [
        'a host without a token',
        {},
        undefined,
        'NoToken Machine/m: the host has no bootstrap token to join with. Run kubenode machine token m',
      ],
      [
        'a token that no host uses',
        token(600, 'uid'),
        undefined,
        `TokenUnused Secret/bootstrap-token-abc123: the host has not used its bootstrap token abc123 yet; it ends at ${ago(-600)}`,
      ],
      [
        'a token that ended',
        token(0, 'uid'),
        undefined,
        'TokenEnded Machine/m: token abc123 ended before the host joined. Run kubenode machine token m',
      ],
      [
        'a token whose Secret is deleted',
        token(600),
        undefined,
        'TokenEnded Machine/m: token abc123 ended before the host joined. Run kubenode machine token m',
      ],
      [
        'an instance whose provider gives the next token',
        { status: { infra: { providerID: 'local:///1' } } },
        undefined,
        'NotIssued Machine/m: the agent has no certificate: the host has not joined',
      ],
      [
        'an instance that has its token, and never boots',
        { ...token(600, 'uid'), ...instance('Pending') },
        undefined,
        `TokenUnused Secret/bootstrap-token-abc123: the host has not used its bootstrap token abc123 yet; it ends at ${ago(-600)}. Instance aws:///a/i-1 is Pending. ${CONSOLE}`,
      ],
      [
        'an instance that runs, and lost its user data',
        instance('Running'),
        undefined,
        `NotIssued Machine/m: the agent has no certificate: the host has not joined. Instance aws:///a/i-1 is Running. ${CONSOLE}`,
      ],
      [
        'a host that its provider has not created yet',
        { spec: { infra: { provider: 'aws', config: { imageId: 'ami-1' } } } },
        undefined,
        'NotIssued Machine/m: the agent has no certificate: its provider has not created the host yet',
      ],
      [
        'a host whose provider creates it again after its token ended',
        { ...token(0), spec: { infra: { provider: 'aws', config: { imageId: 'ami-1' } } } },
        undefined,
        'NotIssued Machine/m: the agent has no certificate: its provider has not created the host yet',
      ],
      [
        'a denied request',
        {},
        request('Denied'),
        `RequestDenied ${CSR} was denied: WrongUid: expected another`,
      ],
      ['a pending request', {}, request('Pending'), `RequestPending ${CSR} is not approved yet`],
      [
        'a request that is not signed',
        {},
        request('Approved'),
        `RequestNotSigned ${CSR} is approved, and its signer has not issued the certificate`,
      ],
      [
        'a certificate that is not in use',
        {},
        request('Issued'),
        `NotInUse ${CSR} has its certificate: the agent has not used it yet`,
      ],
      [
        'a request of a token before this one',
        token(600, 'uid'),
        request('Denied', 'system:bootstrap:older'),
        `TokenUnused Secret/bootstrap-token-abc123: the host has not used its bootstrap token abc123 yet; it ends at ${ago(-600)}`,
      ],
      [
        'a renewal that was denied',
        expired,
        request('Denied', 'kubenode:agent:m'),
        `Expired CertificateSigningRequest/csr-1: the certificate of the agent has expired (${ago(10)}): certificate request csr-1 was denied: WrongUid: expected another`,
      ],
      [
        'a renewal that was not requested',
        expired,
        undefined,
        `Expired -: the certificate of the agent has expired (${ago(10)}). If the agent cannot renew it, raise spec.agentEpoch`,
      ],
    ],
  )('MAC-04 names what keeps the certificate away: %s', (_, parts, agent, want) => {
    expect(explain(parts, agent)).toBe(want);
  });
});
