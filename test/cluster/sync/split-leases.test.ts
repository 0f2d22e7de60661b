import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CLUSTERS, PIPELINES } from '../../../src/api/generated/resources.ts';
import type { Cluster } from '../../../src/api/generated/types.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { LEASES, readLeaseRecord } from '../../../src/kube/leader/record.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { valueAt } from '../../../src/kube/objects/json.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { installWidgets } from '../../support/controller/install-widgets.ts';
import { WIDGETS } from '../../support/controller/widgets.ts';
import { slice } from '../../support/sweep-size.ts';
import { STAGES, type Stage, startTestFleet, type TestFleet } from './test-fleet.ts';

/** What is promised for every split of Leases. */
const PROCESSES = ['one', 'two', 'three'];

type Split = Readonly<Record<'fleet' | Stage, string>>;

/** Every way to divide three Leases among processes; which process is which does not matter. */
const SPLITS: readonly Split[] = [
  { fleet: 'one', test: 'one', prod: 'one' },
  { fleet: 'one', test: 'two', prod: 'two' },
  { fleet: 'one', test: 'one', prod: 'two' },
  { fleet: 'one', test: 'two', prod: 'one' },
  { fleet: 'one', test: 'two', prod: 'three' },
];

let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(() => fleet.reset());
afterAll(() => fleet.stop());

describe('Leases that several processes hold', () => {
  it.each(slice(SPLITS, 1))(
    'SAF-1 syncs within a minute when $fleet promotes, $test applies to test and $prod to prod',
    async (split) => {
      await startWith(split);
      const first = fleet.commit('1', 'first');
      await fleet.pipeline();
      await synced(first, '1');
      const bump = fleet.commit('2', 'bump');
      await synced(bump, '2');
      expect(await holders()).toEqual(split);
      for (const name of STAGES) {
        expect(await fleet.condition(name, 'Synced')).toMatchObject({ status: 'True' });
      }
    },
  );

  it('corrects drift, reports what a server refuses, records what ran once, and obeys a pause', async () => {
    await startWith({ fleet: 'one', test: 'two', prod: 'three' });
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    await synced(first, '1');

    await drift('prod');
    await expect.poll(() => fleet.versions()).toEqual(['1', '1']);
    const corrected = { total: 1, objects: [{ object: 'ConfigMap default/settings', commit: first }] };
    await expect.poll(() => fleet.state('prod')).toMatchObject({ drift: corrected });

    const bad = fleet.commitFiles('bad', { 'clusters/test/web/more.yaml': MISSPELT });
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit: bad, state: 'Failed' });
    const { message, failures } = await fleet.state('test');
    expect(message).toContain('misspelt');
    expect(failures).toMatchObject([{ object: 'ConfigMap default/more', unit: 'web' }]);
    const back = fleet.commitFiles('back', { 'clusters/test/web/more.yaml': undefined });
    await synced(back, '1');
    expect((await fleet.state('test')).history).toMatchObject([
      { commit: back, state: 'Proven', sameContentAs: first },
      { commit: bad, state: 'Failed', message: expect.stringContaining('misspelt') as string },
      { commit: first, state: 'Proven' },
    ]);

    await pause(true);
    await expect.poll(() => assignedMode('prod')).toBe('Observe');
    await drift('prod');
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    expect(await fleet.versions()).toEqual(['1', 'drift']);
    await pause(false);
    await expect.poll(() => fleet.versions()).toEqual(['1', '1']);
  });

  it('SAF-3 goes on to the next commit though the process that promotes may not read what the other one applied', async () => {
    const { client } = fleet.clusters.test;
    await installWidgets(client);
    const forbid = await grantWidgets(client);
    await fleet.sync('one', (lease) => lease.startsWith('cluster-'));
    const promoter = await fleet.sync('two', (lease) => lease === 'pipeline-fleet');
    fleet.commit('1', 'first');
    const widget = fleet.commitFiles('widget', { 'clusters/test/more/widget.yaml': WIDGET });
    await fleet.pipeline();
    await synced(widget, '1');

    await promoter.close();
    await forbid();
    await fleet.sync('three', (lease) => lease === 'pipeline-fleet');
    const second = fleet.commit('2', 'second');
    await expect.poll(() => fleet.state('test')).toMatchObject({ commit: second });
    fleet.commit('3', 'third');
    await expect.poll(async () => (await fleet.versions())[0]).toBe('3');
    const unreadable = expect.stringMatching(/Widget part: it cannot be read: .*forbidden/) as unknown;
    await expect.poll(() => fleet.state('test')).toMatchObject({ message: unreadable });
  });

  it('hands a cluster over when its Cluster is renamed, and each process writes its own part of a status', async () => {
    await fleet.sync('one', (lease) => lease === 'pipeline-fleet');
    await fleet.sync('two', (lease) => lease.startsWith('cluster-'));
    const first = fleet.commit('1', 'first');
    await fleet.pipeline();
    await fleet.allProven(first);
    expect(await statusFields('test')).toMatchObject({
      'kubenode-sync': expect.not.arrayContaining(['f:report']) as unknown,
      'kubenode-sync-report': ['f:report'],
    });

    const { client } = fleet.clusters.prod;
    const { metadata } = await client.get(CONFIG_MAPS, { name: 'settings', namespace: 'default' });
    const renamed = fleet.commit('1', 'rename', { test: 'test', prod: 'prod-b' });
    await expect.poll(() => fleet.state('prod-b')).toMatchObject({ commit: renamed, state: 'Proven' });
    expect(await fleet.state('prod')).toMatchObject({ commit: first, state: 'Held' });
    const { metadata: after } = await client.get(CONFIG_MAPS, { name: 'settings', namespace: 'default' });
    expect(after.uid).toBe(metadata.uid);
  });
});

/** Drift is corrected within a second where it is corrected. */
const QUIET_MS = 5000;
const WIDGET = 'apiVersion: test.kubenode.dev/v1\nkind: Widget\nmetadata: {name: part}\nspec: {size: 1}\n';
const MISSPELT =
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: default}\nmisspelt: true\n';

/** Lets sync use Widgets. Returns what ends that. A watch that is open then goes on until the server closes it. */
async function grantWidgets(client: Client): Promise<() => Promise<void>> {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  const metadata = { name: 'widgets' };
  const rules = [{ apiGroups: [WIDGETS.group], resources: [WIDGETS.plural], verbs: ['*'] }];
  const bindings = await client.resourceFor(apiVersion, 'ClusterRoleBinding');
  await client.create(await client.resourceFor(apiVersion, 'ClusterRole'), {
    apiVersion,
    kind: 'ClusterRole',
    metadata,
    rules,
  });
  const { metadata: created } = await client.create(bindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup, kind: 'User', name: createPrincipal('kubenode-sync').user }],
  });
  return async () => {
    await client.delete(bindings, metadata, { uid: created.uid ?? '' });
  };
}

/** Starts every process; each can hold only its own Leases. */
async function startWith(split: Split): Promise<void> {
  const leases = Object.entries(split).map(([name, holder]) => ({ lease: leaseName(name), holder }));
  for (const name of PROCESSES) {
    await fleet.sync(name, (lease) => leases.some((each) => each.lease === lease && each.holder === name));
  }
}

function leaseName(name: string): string {
  return name === 'fleet' ? 'pipeline-fleet' : `cluster-${name}`;
}

async function holders(): Promise<Record<string, unknown>> {
  const names = ['fleet', ...STAGES];
  const holding = names.map(async (name) => {
    const lease = await fleet.hub.client.get(LEASES, { namespace: 'kubenode-system', name: leaseName(name) });
    return [name, readLeaseRecord(lease).holder] as const;
  });
  return Object.fromEntries(await Promise.all(holding));
}

async function synced(commit: string, version: string): Promise<void> {
  const proven = { commit, state: 'Proven' };
  for (const name of STAGES) await expect.poll(() => fleet.state(name)).toMatchObject(proven);
  expect(await fleet.versions()).toEqual([version, version]);
}

/** The fields of a status by the manager that owns them. */
async function statusFields(name: Stage): Promise<Record<string, readonly string[]>> {
  const { metadata } = await fleet.hub.client.get<Cluster>(CLUSTERS, { name });
  const owners = (metadata.managedFields ?? []).filter(({ subresource }) => subresource === 'status');
  return Object.fromEntries(
    owners.map(({ manager, fieldsV1 }) => [manager, Object.keys(valueAt(fieldsV1, 'f:status') ?? {})]),
  );
}

async function drift(name: Stage): Promise<void> {
  const { client } = fleet.clusters[name];
  const body = { data: { version: 'drift' } };
  await client.patch(CONFIG_MAPS, { name: 'settings', namespace: 'default' }, { type: 'merge', body });
}

/** Without a resourceVersion: both processes write the status of the Pipeline at any time. */
async function pause(paused: boolean): Promise<void> {
  const patch = { type: 'merge', body: { spec: { paused } } } as const;
  await fleet.hub.client.patch(PIPELINES, { name: 'fleet' }, patch);
}

async function assignedMode(name: Stage): Promise<unknown> {
  const { status } = await fleet.hub.client.get<Cluster>(CLUSTERS, { name });
  return status?.assigned?.mode;
}
