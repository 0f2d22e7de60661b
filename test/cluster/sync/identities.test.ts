/** S29: units that sync writes as ServiceAccounts, with its own permissions on a real API server. Sync itself may read Leases only. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PRINCIPAL_SYNC, serviceAccountUser } from '../../../src/api/names.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import type { SyncTarget } from '../../../src/sync/apply/context.ts';
import { summarizeSync } from '../../../src/sync/apply/report.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { resources } from '../api/resources.ts';
import { commitNo, configMap, HUB, startTestSync, type TestSync, targetOf } from './target-cluster.ts';

const NAMESPACE = 'shop';
const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};
const ROLE_BINDINGS: Resource = { ...resources.Role, kind: 'RoleBinding', plural: 'rolebindings' };
const IDENTITIES = { identities: [{ unit: 'web', serviceAccount: `${NAMESPACE}/deployer` }] };
const EVERYTHING = ['create', 'patch', 'delete'];

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
});
beforeEach(async () => {
  await installed.server.wipe();
  await create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
});
afterAll(() => installed?.stop());

async function create(resource: Resource, object: KubeObject): Promise<void> {
  await installed.server.client.create(resource, object);
}

async function createAccount(): Promise<void> {
  const metadata = { name: 'deployer', namespace: NAMESPACE };
  await create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Grants a rule in the namespace to a ServiceAccount. */
async function grant(name: string, rule: Rule, account: string): Promise<void> {
  const [namespace, subject] = account.split('/');
  const [apiVersion, metadata] = ['rbac.authorization.k8s.io/v1', { name, namespace: NAMESPACE }];
  await create(resources.Role, { apiVersion, kind: 'Role', metadata, rules: [rule] });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const subjects = [{ kind: 'ServiceAccount', namespace, name: subject }];
  await create(ROLE_BINDINGS, { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects });
}

function grantLeases(verbs: readonly string[], more: Partial<Rule> = {}): Promise<void> {
  const rule = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs, ...more };
  return grant(`leases-${verbs.join('-')}`, rule, `${NAMESPACE}/deployer`);
}

/** As the message of sync asks for it. */
function grantImpersonation(): Promise<void> {
  const rule = {
    apiGroups: [''],
    resources: ['serviceaccounts'],
    verbs: ['impersonate'],
    resourceNames: ['deployer'],
  };
  return grant('kubenode-sync-as-deployer', rule, `kubenode-system/${PRINCIPAL_SYNC}`);
}

async function startSync(): Promise<TestSync> {
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'];
  const client = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), groups);
  const sync = await startTestSync(client, HUB);
  onTestFinished(() => sync.close());
  return sync;
}

function lease(name: string, holder = 'git'): KubeObject {
  const metadata = { name, namespace: NAMESPACE };
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec: { holderIdentity: holder },
  };
}

function desired(commit: number, units: Record<string, readonly KubeObject[]>): SyncTarget {
  return targetOf(commitNo(commit), units, IDENTITIES);
}

/** The state after a reconcile, with its message. */
async function work(sync: TestSync, target: SyncTarget): Promise<string> {
  const { state, reason, message } = summarizeSync(target.digest, await sync.sync(target)).work;
  return `${state} ${reason}: ${message}`;
}

async function holders(): Promise<Record<string, unknown>> {
  const { items } = await installed.server.client.list(LEASES, { namespace: NAMESPACE });
  return Object.fromEntries(
    items.map((item) => [item.metadata.name, textAt(item, 'spec', 'holderIdentity')]),
  );
}

async function hasConfigMap(name: string): Promise<boolean> {
  try {
    await installed.server.client.get(CONFIG_MAPS, { name, namespace: 'default' });
    return true;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}

describe('a unit with a ServiceAccount', () => {
  it('S29 is written as the account once everything is granted, and what is missing is named before', async () => {
    const sync = await startSync();
    const target = desired(1, { web: [lease('a'), lease('b')], other: [configMap('free')] });
    // A server that was just wiped may ask for a moment.
    await expect
      .poll(() => work(sync, target))
      .toMatch(/^Applying IdentityMissing: .*kubectl create serviceaccount/);
    await createAccount();
    expect(await work(sync, target)).toMatch(
      /^Applying IdentityDenied: .*sync may not act as ServiceAccount shop\/deployer.*cannot impersonate/,
    );
    expect(await hasConfigMap('free')).toBe(true);
    await grantImpersonation();
    await expect
      .poll(() => work(sync, target))
      .toMatch(/may not create, patch leases\.coordination\.k8s\.io in namespace shop\. Run: kubectl create/);
    await grantLeases(['patch']);
    await expect.poll(() => work(sync, target)).toMatch(/may not create leases\.coordination\.k8s\.io in/);
    expect(await holders()).toEqual({});
    await grantLeases(['create']);
    await expect.poll(() => work(sync, target)).toMatch(/^Applied/);
    expect(await holders()).toEqual({ a: 'git', b: 'git' });
  });

  it('S29 is corrected, pruned and moved as the account', async () => {
    await createAccount();
    await grantImpersonation();
    await grantLeases(['create', 'patch']);
    const sync = await startSync();
    const both = desired(1, { web: [lease('a'), lease('b')], other: [configMap('free')] });
    await expect.poll(() => work(sync, both)).toMatch(/^Applied/);

    const edit = { type: 'merge', body: { spec: { holderIdentity: 'foreign' } } } as const;
    await installed.server.client.patch(LEASES, { name: 'a', namespace: NAMESPACE }, edit, {
      fieldManager: 'anna',
    });
    const corrected = async (): Promise<unknown> => {
      await sync.sync(both);
      return (await holders())['a'];
    };
    await expect.poll(corrected).toBe('git');

    // A change in the same unit does not go ahead without the delete: the unit is written as a whole.
    const one = desired(2, { web: [lease('a', 'later')], other: [configMap('free', { key: 'new' })] });
    expect(await work(sync, one)).toMatch(/may not delete leases\.coordination\.k8s\.io in namespace shop/);
    expect(await holders()).toEqual({ a: 'git', b: 'git' });
    await grantLeases(['delete']);
    await expect.poll(() => work(sync, one)).toMatch(/^Applied/);
    expect(await holders()).toEqual({ a: 'later' });

    // To a unit without an account: sync itself may not write Leases.
    expect(await work(sync, desired(3, { web: [], other: [lease('a', 'moved')] }))).toMatch(/Forbidden/);
    expect(await holders()).toEqual({ a: 'later' });
  });

  it('S29 may be granted single names', async () => {
    await createAccount();
    await grantImpersonation();
    await grantLeases(EVERYTHING, { resourceNames: ['a', 'b'] });
    const sync = await startSync();
    const named = desired(1, { web: [lease('a'), lease('b')] });
    await expect.poll(() => work(sync, named)).toMatch(/^Applied/);
    const third = desired(2, { web: [lease('a'), lease('b'), lease('c')] });
    expect(await work(sync, third)).toMatch(/may not create, patch leases/);
    expect(await holders()).toEqual({ a: 'git', b: 'git' });
  });

  it('S29 gets the account from another unit of the same commit', async () => {
    await grantImpersonation();
    await grantLeases(EVERYTHING);
    const sync = await startSync();
    const metadata = { name: 'deployer', namespace: NAMESPACE };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
    const target = desired(1, { web: [lease('a')], accounts: [account] });
    await expect.poll(() => work(sync, target)).toMatch(/^Applying IdentityMissing/);
    await expect.poll(() => work(sync, target)).toMatch(/^Applied/);
    expect(await holders()).toEqual({ a: 'git' });
  });
});
