/** Who may do what, asked of a real API server by certificate: every right of the table, and those next to it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_MACHINE,
  PRINCIPAL_REMEDY,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../../src/api/names.ts';
import { CONTROLLER_PRINCIPALS, PRINCIPALS } from '../../../../src/api/principals.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { type Installed, startInstalled } from '../installed.ts';
import { PEOPLE, RBAC, type Right, rights } from '../rights.ts';
import { type Act, answer, create, resources, type Verdict } from '../world.ts';

const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'];

const read: Act = (client) => client.list(resources.Machine);

let installed: Installed;
beforeAll(async () => {
  installed = await startInstalled();
  const { client } = installed.server;
  for (const role of PEOPLE) await client.create(resources.ClusterRoleBinding, bindingOf(role));
});
afterAll(() => installed?.stop());

describe('rights', () => {
  it.each(rights.map(([right, who]) => [nameOf(right), right, who] as const))('%s', async (_, right, who) => {
    const all = [...PRINCIPALS, ...PEOPLE];
    const allowed: string[] = [];
    for (const principal of all) if (await may(await clientOf(principal), right)) allowed.push(principal);
    expect(allowed.toSorted()).toEqual([...who].toSorted());
  });
});

describe('impersonation', () => {
  it.each<[string, Verdict]>([
    ...CONTROLLER_PRINCIPALS.map((name): [string, Verdict] => [serviceAccountUser(name), 'allowed']),
    [serviceAccountUser(PRINCIPAL_SYNC), 'no right'],
    ['system:serviceaccount:kube-system:default', 'no right'],
    ['system:serviceaccount:default:kubenode-remedy', 'no right'],
    ['kubenode:agent:n17', 'no right'],
    ['admin', 'no right'],
  ])('by kubenode-controllers, as %s: %s', async (user, wanted) => {
    const groups = ACCOUNTS;
    const client = await installed.as(serviceAccountUser(PRINCIPAL_CONTROLLERS), groups, { user });
    expect(await answer(client, read, wanted)).toBe(wanted);
  });

  it("is nobody else's, and lends no group", async () => {
    const other = await installed.as(serviceAccountUser(PRINCIPAL_REMEDY), ACCOUNTS, {
      user: serviceAccountUser(PRINCIPAL_DEFENDER),
    });
    expect(await answer(other, read, 'no right')).toBe('no right');
    const impersonate = { user: serviceAccountUser(PRINCIPAL_REMEDY), groups: ['system:masters'] };
    const masters = await installed.as(serviceAccountUser(PRINCIPAL_CONTROLLERS), ACCOUNTS, impersonate);
    expect(await answer(masters, read, 'no right')).toBe('no right');
  });

  it('carries the identity of the controller: as remedy it may not do what machine may', async () => {
    const right: Right = { verb: 'patch', resource: 'nodes' };
    expect(await may(await controllersAs(PRINCIPAL_MACHINE), right)).toBe(true);
    expect(await may(await controllersAs(PRINCIPAL_REMEDY), right)).toBe(false);
  });
});

describe('sync', () => {
  it.each<[string, KubeObject, Verdict]>([
    ['a role of what it may do itself', roleWith(rule(['apps'], 'deployments', ['get'])), 'allowed'],
    ['a role that reads Secrets', roleWith(rule([''], 'secrets', ['get'])), 'no right'],
    ['a role that may do all', roleWith(rule(['*'], '*', ['*'])), 'no right'],
    [
      'a role that breaks glass',
      roleWith(rule(['kubenode.dev'], 'noderemediers', ['break-glass'])),
      'no right',
    ],
    ['a binding to an administrator', bindingOf('cluster-admin'), 'no right'],
    [
      'a ConfigMap anywhere',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default' } },
      'allowed',
    ],
    [
      'a Secret',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'default' } },
      'no right',
    ],
  ])('creates %s: %s', async (_, object, wanted) => {
    const sync = await clientOf(PRINCIPAL_SYNC);
    expect(await answer(sync, create(object), wanted)).toBe(wanted);
  });
});

function clientOf(principal: string): Promise<Client> {
  return PEOPLE.includes(principal)
    ? installed.as(`anna-${principal}`, [principal])
    : installed.as(serviceAccountUser(principal), ACCOUNTS);
}

/** Asked by the principal itself, with its own certificate. */
async function may(client: Client, right: Right): Promise<boolean> {
  const apiVersion = 'authorization.k8s.io/v1';
  const kind = 'SelfSubjectAccessReview';
  const review = { apiVersion, kind, spec: { resourceAttributes: right } } as unknown as KubeObject;
  const resource = {
    group: 'authorization.k8s.io',
    version: 'v1',
    kind,
    plural: 'selfsubjectaccessreviews',
    namespaced: false,
  };
  const { status } = await client.create<{ status: { allowed: boolean } }>(resource, {
    ...review,
    metadata: {},
  } as KubeObject);
  return status.allowed;
}

function nameOf({ verb, group = '', resource, subresource = '', namespace = '', name = '' }: Right): string {
  const what = [`${resource}${group === '' ? '' : `.${group}`}`, subresource].filter(Boolean).join('/');
  return [verb, what, name, namespace && `in ${namespace}`].filter(Boolean).join(' ');
}

function roleWith(...rules: readonly object[]): KubeObject {
  return { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: 'from-git' }, rules };
}

function bindingOf(role: string): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: `test-${role}` },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: role }],
  };
}

function controllersAs(principal: string): Promise<Client> {
  const user = serviceAccountUser(principal);
  return installed.as(serviceAccountUser(PRINCIPAL_CONTROLLERS), ACCOUNTS, { user });
}

function rule(apiGroups: string[], resource: string, verbs: string[]): object {
  return { apiGroups, resources: [resource], verbs };
}
