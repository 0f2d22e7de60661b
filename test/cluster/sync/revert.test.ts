/** Whatever a commit contains: its other objects are applied, its odd one has a reason, and `git revert` leads back. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type ClusterSyncer, createClusterSyncer } from '../../../src/sync/apply/cluster-syncer.ts';
import type { ClusterReport } from '../../../src/sync/cluster-report.ts';
import type { Acknowledgement } from '../../../src/sync/judge/delete-budget.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { HELD } from '../../sync/apply/fixtures.ts';
import { CALM_UNIT, type Content, configMap, crd, DOWN_GROUP, gadget } from '../../sync/fuzz/content.ts';
import { findProblems } from '../../sync/fuzz/problems.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { declaredObjects, ownedObjects, readInventory } from './fuzz/observe.ts';
import { commitNo, HUB, targetOf } from './target-cluster.ts';

const GOOD: Content = {
  [CALM_UNIT]: [configMap('calm', { value: 'good' })],
  odd: [configMap('stays', { value: 'good' })],
};
const ODD = 'odd.example.com';
const ACKNOWLEDGE = /acknowledge unit (\S+) with planDigest (\S+)/;

/** What a commit adds, what people and other clients do to it, and what has to be reported. */
interface Shape {
  readonly name: string;
  readonly objects: readonly KubeObject[];
  /** Before the commit. */
  readonly prepare?: (client: Client) => Promise<unknown>;
  /** The failure of the last object; without it, the commit is applied completely. */
  readonly failure?: RegExp;
  /** After the commit and before its revert. */
  readonly disturb?: (client: Client) => Promise<unknown>;
  /** What is left after the revert, until somebody has done this. */
  readonly stuck?: Stuck;
}

interface Stuck {
  /** Of the status of Synced and its message: what only others keep does not hold the revert. */
  readonly because: RegExp;
  readonly release: (client: Client, message: string) => Promise<unknown>;
}

let installed: InstalledServer;
let server: ApiServer;
let kubeconfig: string;
/** What a person has acknowledged, from the message that asks for it. */
let acknowledgements: Acknowledgement[];

beforeAll(async () => {
  installed = await startInstalledServer();
  ({ server } = installed);
  kubeconfig = await server.kubeconfigFor(createPrincipal('kubenode-sync'));
});
beforeEach(async () => {
  acknowledgements = [];
  await server.wipe();
});
afterAll(() => installed.stop());

const odd = configMap('odd', { value: 'odd' });
const ODD_NAME = { name: 'odd', namespace: 'default' };

function named(name: string): KubeObject {
  return configMap(name, { value: 'odd' });
}

function request(apiVersion: string, kind: string, fields: object = {}): KubeObject {
  return { apiVersion, kind, metadata: { name: 'odd', namespace: 'default' }, ...fields };
}

const SHAPES: readonly Shape[] = [
  ...[
    { name: '.', failure: /cannot be part of a request path/ },
    { name: '..', failure: /cannot be part of a request path/ },
    { name: 'a/b', failure: /cannot be part of a request path/ },
    { name: 'a%2Fb', failure: /cannot be part of a request path/ },
    { name: 'line\nbreak', failure: /cannot be part of a request path/ },
    { name: 'UPPER', failure: /RFC 1123/ },
    { name: 'ünïcode', failure: /RFC 1123/ },
    { name: '🦄', failure: /RFC 1123/ },
    { name: 'x'.repeat(300), failure: /253/ },
  ].map(({ name, failure }) => ({
    name: `the name ${JSON.stringify(name.slice(0, 20))}, ${name.length} long`,
    objects: [named(name)],
    failure,
  })),
  ...['.', '..', 'a/b', 'Upper', 'x'.repeat(300), 'missing'].map((namespace) => ({
    name: `the namespace ${JSON.stringify(namespace.slice(0, 20))}, ${namespace.length} long`,
    objects: [configMap('odd', { value: 'odd' }, namespace)],
    failure: /./,
  })),
  ...['../../x', 'a/b/c', 'v1/..', 'apps/v0', `${ODD}/v1`].map((apiVersion) => ({
    name: `the apiVersion ${apiVersion}`,
    objects: [{ ...odd, apiVersion }],
    failure: /./,
  })),
  {
    name: 'a cluster-scoped object with a namespace',
    objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: ODD_NAME }],
    failure: /cluster-scoped: remove metadata.namespace/,
  },
  {
    name: 'a namespaced object without a namespace',
    objects: [{ ...odd, metadata: { name: 'odd' } }],
    failure: /namespaced: set metadata.namespace/,
  },
  { name: 'a Secret', objects: [request('v1', 'Secret')], failure: /secrets/ },
  { name: 'an Event', objects: [request('v1', 'Event')], failure: /events/ },
  { name: 'a Binding', objects: [request('v1', 'Binding')], failure: /./ },
  {
    name: 'a TokenReview',
    objects: [{ ...request('authentication.k8s.io/v1', 'TokenReview'), metadata: { name: 'odd' } }],
    failure: /./,
  },
  { name: 'an Eviction', objects: [request('policy/v1', 'Eviction')], failure: /./ },
  // Every delete of a CRD is held, because it would delete all objects of its kind.
  {
    name: 'a CRD without rights on its kind',
    objects: [crd(ODD)],
    stuck: { because: ACKNOWLEDGE, release: acknowledge },
  },
  {
    name: 'a CRD and an object of it without rights on its kind',
    objects: [crd(ODD), gadget(ODD, 'odd')],
    failure: /gadgets.odd.example.com/,
    stuck: { because: ACKNOWLEDGE, release: acknowledge },
  },
  {
    name: 'an object of an aggregated API that is down',
    objects: [gadget(DOWN_GROUP, 'odd')],
    prepare: createApiService,
    failure: /down.example.com/,
  },
  {
    name: 'a foreign finalizer',
    objects: [odd],
    disturb: (client) => setFinalizers(client, ['example.com/foreign']),
    stuck: {
      because: /^True .*finalizers example.com\/foreign$/,
      release: (client) => setFinalizers(client, []),
    },
  },
  {
    name: 'a conflict with another manager over the object',
    objects: [odd],
    prepare: (client) => client.create(CONFIG_MAPS, configMap('odd', { value: 'theirs' }), SOMEBODY),
    failure: /kubenode did not create it/,
  },
  {
    name: 'labels that were removed by hand',
    objects: [odd],
    disturb: (client) => merge(client, { labels: { 'kubenode.dev/hub': null, 'kubenode.dev/unit': null } }),
  },
];

describe('S1 git revert leads back to Synced, and nothing is left behind', () => {
  it.each(SHAPES)('after a commit with $name', async (shape) => {
    const { client } = server;
    const syncer = await startSyncer();
    const revert = { commit: commitNo(3), content: GOOD };
    await expectSynced(syncer, { commit: commitNo(1), content: GOOD });
    await shape.prepare?.(client);
    const changed = { ...GOOD, [CALM_UNIT]: [configMap('calm', { value: 'bad' })] };
    const bad = { ...changed, odd: [...(GOOD['odd'] ?? []), ...shape.objects] };
    await expectApplied(syncer, { commit: commitNo(2), content: bad }, shape);
    await shape.disturb?.(client);
    if (shape.stuck) await expectStuck(syncer, revert, shape.stuck);
    await expectSynced(syncer, revert);
    // A CRD is marked first and deleted by the next reconcile.
    await expectSynced(syncer, revert);
    expect(await problems(bad)).toEqual([]);
  });
});

interface Commit {
  readonly commit: string;
  readonly content: Content;
}

async function acknowledge(_: Client, message: string): Promise<void> {
  const [, unit = '', planDigest = ''] = ACKNOWLEDGE.exec(message) ?? [];
  acknowledgements = [{ unit, planDigest }];
}

async function startSyncer(): Promise<ClusterSyncer> {
  const clock = createSystemClock();
  const syncer = createClusterSyncer({
    cluster: 'target',
    hub: HUB,
    scope: '',
    connect: (fence) => connect({ kubeconfig, clock, fence }),
    pinnedUID: () => undefined,
    lease: HELD,
    policy: () => ({ budget: { maxObjects: 1000, maxPercent: 100 }, acknowledgements }),
    clock,
    log: memoryLog(),
    random: () => 0.5,
    onChange: () => undefined,
  });
  onTestFinished(() => syncer.close());
  return syncer;
}

async function reconciled(syncer: ClusterSyncer, { commit, content }: Commit): Promise<ClusterReport> {
  const { digest, units } = targetOf(commit, content);
  const rendered = { target: 'target', digest, units };
  const target = { mode: 'Apply', commit, pipeline: 'fleet', because: 'next' } as const;
  try {
    await syncer.reconcile({ ...target, content: async () => rendered }, new AbortController().signal);
  } catch (error) {
    syncer.recordFailure(error);
  }
  return syncer.report();
}

async function expectSynced(syncer: ClusterSyncer, commit: Commit): Promise<void> {
  await expect
    .poll(async () => reconciled(syncer, commit))
    .toMatchObject({ synced: { status: 'True' }, work: { commit: commit.commit, failures: [] } });
}

/** Everything but the last object, for which there is a reason. */
async function expectApplied(
  syncer: ClusterSyncer,
  commit: Commit,
  { failure, objects }: Shape,
): Promise<void> {
  if (!failure) return expectSynced(syncer, commit);
  const last = objects.at(-1);
  const object = last && objectKey(objectIdOf(last));
  const failures = [{ object, message: expect.stringMatching(failure) as string }];
  await expect
    .poll(async () => reconciled(syncer, commit))
    .toMatchObject({ synced: { status: 'False' }, work: { commit: commit.commit, failures } });
  expect(await calmValue()).toBe('bad');
}

/** Only until somebody has acted, and nothing else waits for it. */
async function expectStuck(
  syncer: ClusterSyncer,
  commit: Commit,
  { because, release }: Stuck,
): Promise<void> {
  let message = '';
  const current = async (): Promise<string> => {
    const { synced } = await reconciled(syncer, commit);
    ({ message } = synced);
    return `${synced.status} ${message}`;
  };
  await expect.poll(current).toMatch(because);
  expect(await calmValue()).toBe('good');
  await release(server.client, message);
}

async function calmValue(): Promise<unknown> {
  const { data } = await server.client.get(CONFIG_MAPS, { name: 'calm', namespace: 'default' });
  return (data as { value: unknown }).value;
}

async function problems(committed: Content): Promise<string[]> {
  const fleet = { servers: { target: server, neighbor: server }, committed: [GOOD, committed], hubUID: HUB };
  const [owned, declared, inventory] = await Promise.all([
    ownedObjects(fleet),
    declaredObjects(fleet, Object.values(GOOD).flat()),
    readInventory(fleet),
  ]);
  return findProblems(GOOD, HUB, { live: [...owned, ...declared], inventory, foreign: [] });
}

const SOMEBODY = { fieldManager: 'somebody' };

async function merge(client: Client, metadata: object): Promise<void> {
  await client.patch(CONFIG_MAPS, ODD_NAME, { type: 'merge', body: { metadata } }, SOMEBODY);
}

async function setFinalizers(client: Client, finalizers: readonly string[]): Promise<void> {
  await merge(client, { finalizers });
}

/** Of a service that does not exist: discovery of the group fails. */
async function createApiService(client: Client): Promise<void> {
  const resource = await client.resourceFor('apiregistration.k8s.io/v1', 'APIService');
  await client.create(resource, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `v1.${DOWN_GROUP}` },
    spec: {
      group: DOWN_GROUP,
      version: 'v1',
      service: { name: 'none', namespace: 'default' },
      groupPriorityMinimum: 1000,
      versionPriority: 10,
      insecureSkipTLSVerify: true,
    },
  });
}
