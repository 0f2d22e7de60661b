/** Permissions of every principal on a real API server, with their certificates. */
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
import { readUserName } from '../../../../src/kube/auth/self-review.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { isAllowed } from '../access-review.ts';
import { type AccessDecision, type Attempt, create, finalDecision } from '../attempts.ts';
import { type InstalledServer, startInstalledServer } from '../installed-server.ts';
import { PEOPLE, type Permission, permissions, RBAC } from '../permission-table.ts';
import { resources } from '../resources.ts';

const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'];

/** Which everybody may ask. */
const read: Attempt = (client) => readUserName(client, new AbortController().signal);

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
  const { client } = installed.server;
  for (const role of PEOPLE) await client.create(resources.ClusterRoleBinding, bindingOf(role));
});
afterAll(() => installed?.stop());

describe('permissions', () => {
  it.each(permissions.map(([permission, who]) => [nameOf(permission), permission, who] as const))(
    '%s',
    async (_, permission, who) => {
      const all = [...PRINCIPALS, ...PEOPLE];
      const allowed: string[] = [];
      for (const principal of all) {
        if (await isAllowed(await clientOf(principal), permission)) allowed.push(principal);
      }
      expect(allowed.toSorted()).toEqual([...who].toSorted());
    },
  );
});

describe('impersonation', () => {
  it.each<[string, AccessDecision]>([
    ...CONTROLLER_PRINCIPALS.map((name): [string, AccessDecision] => [serviceAccountUser(name), 'allowed']),
    [serviceAccountUser(PRINCIPAL_SYNC), 'no permission'],
    ['system:serviceaccount:kube-system:default', 'no permission'],
    ['system:serviceaccount:default:kubenode-remedy', 'no permission'],
    ['kubenode:agent:n17', 'no permission'],
    ['admin', 'no permission'],
  ])('by kubenode-controllers, as %s: %s', async (user, expected) => {
    const groups = ACCOUNTS;
    const client = await installed.as(serviceAccountUser(PRINCIPAL_CONTROLLERS), groups, { user });
    expect(await finalDecision(client, read, expected)).toBe(expected);
  });

  it('is possible for kubenode-controllers only, and without further groups', async () => {
    const other = await installed.as(serviceAccountUser(PRINCIPAL_REMEDY), ACCOUNTS, {
      user: serviceAccountUser(PRINCIPAL_DEFENDER),
    });
    expect(await finalDecision(other, read, 'no permission')).toBe('no permission');
    const impersonate = { user: serviceAccountUser(PRINCIPAL_REMEDY), groups: ['system:masters'] };
    const masters = await installed.as(serviceAccountUser(PRINCIPAL_CONTROLLERS), ACCOUNTS, impersonate);
    expect(await finalDecision(masters, read, 'no permission')).toBe('no permission');
  });

  it('has the permissions of the impersonated controller: as remedy not those of machine', async () => {
    const permission: Permission = { verb: 'patch', resource: 'nodes' };
    expect(await isAllowed(await controllersAs(PRINCIPAL_MACHINE), permission)).toBe(true);
    expect(await isAllowed(await controllersAs(PRINCIPAL_REMEDY), permission)).toBe(false);
  });
});

describe('sync', () => {
  it.each<[string, KubeObject, AccessDecision]>([
    ['a role with its own permissions', roleWith(rule(['apps'], 'deployments', ['get'])), 'allowed'],
    ['a role that reads Secrets', roleWith(rule([''], 'secrets', ['get'])), 'no permission'],
    ['a role with all permissions', roleWith(rule(['*'], '*', ['*'])), 'no permission'],
    [
      'a role with break-glass',
      roleWith(rule(['kubenode.dev'], 'noderemediers', ['break-glass'])),
      'no permission',
    ],
    ['a binding to an administrator', bindingOf('cluster-admin'), 'no permission'],
    [
      'a ConfigMap anywhere',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default' } },
      'allowed',
    ],
    [
      'a Secret',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'default' } },
      'no permission',
    ],
  ])('creates %s: %s', async (_, object, expected) => {
    const sync = await clientOf(PRINCIPAL_SYNC);
    expect(await finalDecision(sync, create(object), expected)).toBe(expected);
  });
});

function clientOf(principal: string): Promise<Client> {
  return PEOPLE.includes(principal)
    ? installed.as(`anna-${principal}`, [principal])
    : installed.as(serviceAccountUser(principal), ACCOUNTS);
}

function nameOf({
  verb,
  group = '',
  resource,
  subresource = '',
  namespace = '',
  name = '',
}: Permission): string {
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
