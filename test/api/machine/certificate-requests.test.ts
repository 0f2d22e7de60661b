import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  CERTIFICATE_REQUEST_INDEXERS,
  lastRequestOf,
  machinesOf,
  requestsBy,
} from '../../../src/api/machine/certificate-requests.ts';
import { SIGNER_AGENT, SIGNER_KUBELET } from '../../../src/api/names.ts';
import type { CertificateRequestObject } from '../../../src/kube/auth/certificate-requests.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import { createCertificateRequest } from '../../../src/os/x509/certificate-request.ts';
import { ago } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

function request(name: string, commonName: string, seconds = 0, username = 'any'): CertificateRequestObject {
  const signerName = commonName.startsWith('system:node:') ? SIGNER_KUBELET : SIGNER_AGENT;
  const text = createCertificateRequest({ commonName, organization: 'any' }, privateKey);
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, uid: name, creationTimestamp: ago(seconds) },
    spec: { request: Buffer.from(text).toString('base64'), signerName, username },
  };
}

describe('machinesOf', () => {
  it.each([
    ['of an agent', request('r', 'kubenode:agent:n1'), ['n1']],
    ['of a kubelet', request('r', 'system:node:n1'), ['n1']],
    ['of somebody else', request('r', 'ada'), []],
    ['without a name', request('r', 'kubenode:agent:'), []],
  ])('reads a request %s', (_, object, want) => {
    expect(machinesOf(object)).toEqual(want);
  });

  it('ignores what cannot be read, and other signers', () => {
    const object = request('r', 'kubenode:agent:n1');
    expect(machinesOf({ ...object, spec: { ...object.spec, request: 'AAAA' } })).toEqual([]);
    expect(machinesOf({ ...object, spec: { ...object.spec, signerName: 'other/signer' } })).toEqual([]);
  });
});

describe('lastRequestOf', () => {
  it('finds the newest request for the certificate of the agent, or of the kubelet', () => {
    const store = createStore<CertificateRequestObject>({
      log: memoryLog(),
      indexers: CERTIFICATE_REQUEST_INDEXERS,
    });
    store.replace([
      request('new', 'kubenode:agent:n1', 10),
      request('old', 'kubenode:agent:n1', 20),
      request('node', 'system:node:n1', 5),
      request('other', 'kubenode:agent:n2', 1),
    ]);
    expect(lastRequestOf('n1', 'Agent', store)?.metadata.name).toBe('new');
    expect(lastRequestOf('n1', 'Kubelet', store)?.metadata.name).toBe('node');
    expect(lastRequestOf('n3', 'Agent', store)).toBeUndefined();
  });
});

describe('requestsBy', () => {
  it('finds what this user requested, for whatever machine', () => {
    const store = createStore<CertificateRequestObject>({
      log: memoryLog(),
      indexers: CERTIFICATE_REQUEST_INDEXERS,
    });
    const own = ['n1', 'n2'].map((machine) => request(machine, `kubenode:agent:${machine}`, 0, 'token'));
    store.replace([...own, request('r', 'kubenode:agent:n1', 0, 'other')]);
    expect(requestsBy('token', store)).toEqual(own);
    expect(requestsBy('nobody', store)).toEqual([]);
  });
});
