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
import { type Act, answer, create, resources, startWorld, type Verdict, type World } from '../world.ts';

const DATA = {
  'token-id': 'abc123',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
  'auth-extra-groups': BOOTSTRAP_GROUP,
  expiration: '2026-11-20T07:05:05Z',
};

let world: World;
let controller: Client;
beforeAll(async () => {
  world = await startWorld();
  controller = await world.account(PRINCIPAL_MACHINE);
});
beforeEach(() => world.server.wipe());
afterAll(() => world?.stop());

describe('kubenode-machine', () => {
  it.each<[string, KubeObject, Verdict]>([
    ['a token for one machine', token(), 'allowed'],
    ['a token that never expires', token({ expiration: undefined }), TOKENS],
    ['a token of another group', token({ 'auth-extra-groups': 'system:bootstrappers:kubeadm' }), TOKENS],
    [
      'a token of two groups',
      token({ 'auth-extra-groups': `${BOOTSTRAP_GROUP},system:bootstrappers:x` }),
      TOKENS,
    ],
    ['a token without a group', token({ 'auth-extra-groups': undefined }), TOKENS],
    ['a token that may sign', token({ 'usage-bootstrap-signing': 'true' }), TOKENS],
    ['a token for no machine', { ...token(), metadata: { ...token().metadata, labels: {} } }, TOKENS],
    ['a Secret of another type', { ...token(), type: 'Opaque' }, TOKENS],
    ['a token in another namespace', inNamespace('default'), 'no right'],
  ])('creates %s: %s', async (_, object, wanted) => {
    expect(await answer(controller, create(object), wanted)).toBe(wanted);
  });

  it('deletes its tokens, and no other Secret of kube-system', async () => {
    const own = await world.admin.create(resources.Secret, token());
    const other = { ...token(), type: 'Opaque', metadata: { ...token().metadata, name: 'encryption-key' } };
    const foreign = await world.admin.create(resources.Secret, other);
    expect(await answer(controller, removal(own), 'allowed')).toBe('allowed');
    expect(await answer(controller, removal(foreign), TOKENS)).toBe(TOKENS);
  });

  it('reads no Secret of kube-system, not even its own', async () => {
    const { metadata } = await world.admin.create(resources.Secret, token());
    const read: Act = (client) => client.get(resources.Secret, metadata);
    expect(await answer(controller, read, 'no right')).toBe('no right');
  });
});

it('an administrator may create any Secret in kube-system: the policy concerns kubenode-machine only', async () => {
  expect(await answer(world.admin, create(token({ 'usage-bootstrap-signing': 'true' })), 'allowed')).toBe(
    'allowed',
  );
});

describe('a host with a token', () => {
  it.each<[string, Act, Verdict]>([
    ['gets its own certificate request', getRequest, 'allowed'],
    ['lists certificate requests', (client) => client.list(resources.CertificateSigningRequest), 'no right'],
    ['reads Machines', (client) => client.list(resources.Machine), 'no right'],
    ['reads Secrets', (client) => client.list(resources.Secret), 'no right'],
    ['reads Nodes', (client) => client.list(resources.Node), 'no right'],
  ])('%s: %s', async (_, act, wanted) => {
    const host = await world.as('system:bootstrap:abc123', ['system:bootstrappers', BOOTSTRAP_GROUP]);
    expect(await answer(host, act, wanted)).toBe(wanted);
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

function removal({ metadata }: KubeObject): Act {
  return (client) => client.delete(resources.Secret, metadata, { uid: metadata.uid ?? '', dryRun: true });
}

/** A request that is not there: whoever is told so was let through. */
async function getRequest(client: Client): Promise<void> {
  const request = client.get(resources.CertificateSigningRequest, { name: 'none' });
  await request.catch((error: { readonly code?: string }) => {
    if (error.code !== 'NotFound') throw error;
  });
}
