/** Bootstrap tokens of joining hosts: what kubenode-machine may write in kube-system, and what a token may do. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  BOOTSTRAP_GROUP,
  LABEL_MACHINE,
  PRINCIPAL_MACHINE,
  POLICY_BOOTSTRAP_TOKENS as TOKENS,
} from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { type AccessDecision, type Attempt, create, finalDecision } from '../attempts.ts';
import { resources } from '../resources.ts';
import { type SampleCluster, startSampleCluster } from '../sample-cluster.ts';

const DATA = {
  'token-id': 'abc123',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
  'auth-extra-groups': `${BOOTSTRAP_GROUP},${BOOTSTRAP_GROUP}:0a1b2c3d-0000-4000-8000-000000000017`,
  expiration: '2026-11-20T07:05:05Z',
};

let sample: SampleCluster;
let controller: Client;
beforeAll(async () => {
  sample = await startSampleCluster();
  controller = await sample.account(PRINCIPAL_MACHINE);
});
beforeEach(() => sample.server.wipe());
afterAll(() => sample?.stop());

describe('kubenode-machine', () => {
  it.each<[string, KubeObject, AccessDecision]>([
    ['a token for one machine', token(), 'allowed'],
    ['a token that never expires', token({ expiration: undefined }), TOKENS],
    ['a token of another group', token({ 'auth-extra-groups': 'system:bootstrappers:kubeadm' }), TOKENS],
    ['a token of no Machine', token({ 'auth-extra-groups': BOOTSTRAP_GROUP }), TOKENS],
    ...['', ',system:bootstrappers:x', '0'].map((more): [string, KubeObject, AccessDecision] => [
      `a token whose groups end in "${more}"`,
      token({
        'auth-extra-groups': `${DATA['auth-extra-groups'].slice(0, more === '' ? -1 : undefined)}${more}`,
      }),
      TOKENS,
    ]),
    // 36 characters, as a UID has, with a comma as the first, second and third of three.
    ...['', '0', '00'].map((start): [string, KubeObject, AccessDecision] => [
      `a token with another group after "${start}"`,
      token({
        'auth-extra-groups': `${BOOTSTRAP_GROUP},${BOOTSTRAP_GROUP}:${`${start},system:bootstrappers:kubeadm:default-node`.slice(0, 36)}`,
      }),
      TOKENS,
    ]),
    ['a token without a group', token({ 'auth-extra-groups': undefined }), TOKENS],
    ['a token that may sign', token({ 'usage-bootstrap-signing': 'true' }), TOKENS],
    ['a token for no machine', { ...token(), metadata: { ...token().metadata, labels: {} } }, TOKENS],
    ['a Secret of another type', { ...token(), type: 'Opaque' }, TOKENS],
    ['a token in another namespace', inNamespace('default'), 'no permission'],
  ])('creates %s: %s', async (_, object, expected) => {
    expect(await finalDecision(controller, create(object), expected)).toBe(expected);
  });

  it('deletes its tokens, and no other Secret of kube-system', async () => {
    const own = await sample.admin.create(resources.Secret, token());
    const other = { ...token(), type: 'Opaque', metadata: { ...token().metadata, name: 'encryption-key' } };
    const foreign = await sample.admin.create(resources.Secret, other);
    expect(await finalDecision(controller, removal(own), 'allowed')).toBe('allowed');
    expect(await finalDecision(controller, removal(foreign), TOKENS)).toBe(TOKENS);
  });

  it('reads no Secret of kube-system, not even its own', async () => {
    const { metadata } = await sample.admin.create(resources.Secret, token());
    const read: Attempt = (client) => client.get(resources.Secret, metadata);
    expect(await finalDecision(controller, read, 'no permission')).toBe('no permission');
  });
});

it('an administrator may create any Secret in kube-system: the policy concerns kubenode-machine only', async () => {
  expect(
    await finalDecision(sample.admin, create(token({ 'usage-bootstrap-signing': 'true' })), 'allowed'),
  ).toBe('allowed');
});

describe('a host with a token', () => {
  it.each<[string, Attempt, AccessDecision]>([
    ['gets its own certificate request', getRequest, 'allowed'],
    [
      'lists certificate requests',
      (client) => client.list(resources.CertificateSigningRequest),
      'no permission',
    ],
    ['reads Machines', (client) => client.list(resources.Machine), 'no permission'],
    ['reads Secrets', (client) => client.list(resources.Secret), 'no permission'],
    ['reads Nodes', (client) => client.list(resources.Node), 'no permission'],
  ])('%s: %s', async (_, attempt, expected) => {
    const host = await sample.as('system:bootstrap:abc123', ['system:bootstrappers', BOOTSTRAP_GROUP]);
    expect(await finalDecision(host, attempt, expected)).toBe(expected);
  });
});

function token(changes: Readonly<Record<string, string | undefined>> = {}): KubeObject {
  const stringData = { ...DATA, ...changes };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'bootstrap.kubernetes.io/token',
    metadata: {
      name: 'bootstrap-token-abc123',
      namespace: 'kube-system',
      labels: { [LABEL_MACHINE]: 'n17' },
    },
    stringData: Object.fromEntries(Object.entries(stringData).filter(([, value]) => value !== undefined)),
  };
}

function inNamespace(namespace: string): KubeObject {
  return { ...token(), metadata: { ...token().metadata, namespace } };
}

function removal({ metadata }: KubeObject): Attempt {
  return (client) => client.delete(resources.Secret, metadata, { uid: metadata.uid ?? '', dryRun: true });
}

/** A missing request: the answer NotFound means that the read was allowed. */
async function getRequest(client: Client): Promise<void> {
  const request = client.get(resources.CertificateSigningRequest, { name: 'none' });
  await request.catch((error: { readonly code?: string }) => {
    if (error.code !== 'NotFound') throw error;
  });
}
