/** `kubenode install` after an earlier version: what only that one had is removed, and nothing that is not ours. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { install, installation } from '../../../src/api/install/install.ts';
import { LABEL_MANAGED_BY, MANAGED_BY, NAMESPACE } from '../../../src/api/names.ts';
import { clusterRole, role, roleBinding, serviceAccount } from '../../../src/api/roles/rbac.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { testIo } from '../../support/test-io.ts';
import { CRD, type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

const ROLE_BINDINGS = rbac('RoleBinding', 'rolebindings', true);
const ROLES = rbac('Role', 'roles', true);
const CLUSTER_ROLES = rbac('ClusterRole', 'clusterroles', false);
const EVENTS = { name: 'kubenode-events', namespace: NAMESPACE };

/** Version 0.0.9 had them: the binding once was in this namespace. */
const OLD = [
  role('kubenode-old', NAMESPACE, []),
  clusterRole('kubenode-old', 'Of an earlier version.', []),
  roleBinding(EVENTS.name, NAMESPACE, { kind: 'ClusterRole', name: EVENTS.name }, [
    serviceAccount('kubenode-sync'),
  ]),
];
const REMOVED = ['RoleBinding/kubenode-events', 'ClusterRole/kubenode-old', 'Role/kubenode-old'];

let installed: InstalledServer;
let client: Client;
beforeAll(async () => {
  installed = await startInstalledServer();
  client = installed.server.client;
});
beforeEach(() => installed.server.wipe());
afterAll(() => installed?.stop());

describe('kubenode install after an earlier version', () => {
  it('removes what only that version had, and nothing the second time', async () => {
    await install(client, { clock: createSystemClock(), objects: OLD });
    const first = await runInstall();
    expect(first).toMatchObject({ code: 0, deleted: REMOVED });
    expect(first.unchanged).toHaveLength(installation().length);
    expect(await exists(ROLE_BINDINGS, EVENTS)).toBe(false);
    expect(await exists(ROLE_BINDINGS, { ...EVENTS, namespace: 'default' })).toBe(true);
    expect(await exists(CLUSTER_ROLES, { name: 'kubenode-old' })).toBe(false);
    expect(await runInstall()).toMatchObject({ code: 0, deleted: [] });
  });

  it('shows in a dry run what it would remove, and removes nothing', async () => {
    await install(client, { clock: createSystemClock(), objects: OLD });
    expect(await runInstall('--dry-run')).toMatchObject({ code: 2, deleted: REMOVED });
    expect(await exists(ROLE_BINDINGS, EVENTS)).toBe(true);
    expect(await exists(ROLES, { name: 'kubenode-old', namespace: NAMESPACE })).toBe(true);
  });

  it('keeps objects of people: of the same name without the label, and with a copied label', async () => {
    const [, , binding] = OLD;
    const { labels: _, ...unlabelled } = binding?.metadata ?? { name: '' };
    await client.create(ROLE_BINDINGS, { ...binding, metadata: unlabelled } as KubeObject);
    const copied = { name: 'of-a-team', labels: { [LABEL_MANAGED_BY]: MANAGED_BY } };
    const team = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: copied,
      rules: [],
    };
    await client.apply(CLUSTER_ROLES, team, { fieldManager: 'kubectl' });
    expect(await runInstall()).toMatchObject({ code: 0, deleted: [] });
    expect(await exists(ROLE_BINDINGS, EVENTS)).toBe(true);
    expect(await exists(CLUSTER_ROLES, { name: 'of-a-team' })).toBe(true);
  });

  it('never removes a CRD', async () => {
    const [crd] = installation().filter(({ kind }) => kind === 'CustomResourceDefinition');
    const spec = structuredClone(crd?.['spec']) as { names: object };
    spec.names = { kind: 'Robot', listKind: 'RobotList', plural: 'robots', singular: 'robot' };
    const metadata = { ...crd?.metadata, name: 'robots.kubenode.dev' };
    await install(client, {
      clock: createSystemClock(),
      objects: [{ ...crd, metadata, spec } as KubeObject],
    });
    expect(await runInstall()).toMatchObject({ code: 0, deleted: [] });
    expect(await exists(CRD, { name: 'robots.kubenode.dev' })).toBe(true);
  });

  it('keeps the Deployments of an earlier run with --hub', async () => {
    await runInstall('--hub', '--image', 'registry.example.com/kubenode:1');
    expect(await runInstall()).toMatchObject({ code: 0, deleted: [] });
    expect((await runInstall('--dry-run', '--hub', '--image', 'registry.example.com/kubenode:1')).code).toBe(
      0,
    );
  });
});

interface Installed {
  readonly code: number;
  readonly deleted: readonly string[];
  readonly unchanged: readonly string[];
}

async function runInstall(...flags: readonly string[]): Promise<Installed> {
  const io = testIo({ env: { KUBECONFIG: installed.server.kubeconfig } });
  const code = await runCommandLine(io, ['install', ...flags, '-o', 'json']);
  const { objects } = JSON.parse(io.stdout) as { objects: { kind: string; name: string; outcome: string }[] };
  const names = (expected: string): readonly string[] =>
    objects.flatMap(({ kind, name, outcome }) => (outcome === expected ? [`${kind}/${name}`] : []));
  return { code, deleted: names('deleted'), unchanged: names('unchanged') };
}

async function exists(resource: Resource, name: { name: string; namespace?: string }): Promise<boolean> {
  try {
    return (await client.get(resource, name)) !== undefined;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}

function rbac(kind: string, plural: string, namespaced: boolean): Resource {
  return { group: 'rbac.authorization.k8s.io', version: 'v1', kind, plural, namespaced };
}
