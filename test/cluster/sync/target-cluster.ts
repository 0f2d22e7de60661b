/** A real API server as the target of sync. Every port is real except the log. */
import { expect } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import { byCode, digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { SyncContext, SyncTarget } from '../../../src/sync/apply/context.ts';
import { openInventory } from '../../../src/sync/apply/inventory/store.ts';
import { createLiveCache } from '../../../src/sync/apply/live/live-cache.ts';
import { createAppliedReader } from '../../../src/sync/apply/ownership/earlier-content.ts';
import { type SyncResult, syncCluster } from '../../../src/sync/apply/sync-cluster.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import type { RenderedTarget } from '../../../src/sync/rendered.ts';
import { type ApiServer, startApiServer } from '../../support/control-plane.ts';
import { memoryLog } from '../../support/memory-log.ts';

export const HUB = '11111111-2222-3333-4444-555555555555';

export const commitNo = (n: number): string => n.toString(16).padStart(40, '0');

export function configMap(
  name: string,
  data: Record<string, string> = { key: 'value' },
  namespace = 'default',
): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

/** Like a repository: what each commit rendered last. */
const RENDERED = new Map<string, RenderedTarget>();

export function targetOf(
  commit: string,
  units: Record<string, readonly KubeObject[]>,
  more: Partial<SyncTarget> = {},
): SyncTarget {
  const rendered = Object.entries(units).map(([unit, objects]) => ({
    unit,
    objects: objects.map((object) => ({ object, source: { file: 'fleet/main.ts:1' } })),
    digest: digestOf(objects),
  }));
  const digest = digestOf(rendered.map(({ unit, digest: own }) => [unit, own]));
  RENDERED.set(commit, { target: 'test', digest, units: rendered });
  return {
    commit,
    digest,
    units: rendered,
    budget: { maxObjects: 1000, maxPercent: 100 },
    acknowledgements: [],
    ...more,
  };
}

/** Has the namespace that `kubenode install` creates, so an inventory can be written. */
export async function startTargetCluster(): Promise<ApiServer> {
  const server = await startApiServer();
  const metadata = { name: 'kubenode-system' };
  await server.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
  return server;
}

export interface TestSync {
  readonly context: SyncContext;
  sync(target: SyncTarget): Promise<SyncResult>;
  close(): Promise<void>;
}

export const NEVER = new AbortController().signal;

/** A sync process that has just started: it knows only what is in the cluster. */
export async function startTestSync(client: Client, hub = HUB, scope = '', epoch = 1): Promise<TestSync> {
  const clock = createSystemClock();
  const log = memoryLog();
  const live = createLiveCache({ client, clock, log, random: () => 0.5, onChange: () => undefined });
  const clusterUID = await readClusterUID(client, NEVER);
  const store = await openInventory(client, { clusterUID, scope, epoch: () => epoch });
  const context: SyncContext = {
    client,
    live,
    store,
    hub,
    scope,
    clock,
    log,
    serverForms: new Map(),
    applied: createAppliedReader(async (commit) => RENDERED.get(commit), log),
    signal: NEVER,
  };
  return { context, sync: (target) => syncCluster(context, target), close: () => live.close() };
}

/** Names of the ConfigMaps in a namespace that carry owner labels of any hub. */
export async function ownedConfigMaps(client: Client, namespace = 'default'): Promise<string[]> {
  const { items } = await client.list(CONFIG_MAPS, { namespace, labelSelector: 'kubenode.dev/hub' });
  return items.map(({ metadata }) => metadata.name).toSorted((a, b) => (a < b ? -1 : 1));
}

/** Nothing is left of other commits: the inventory lists exactly the objects of this one. */
export async function expectFullyApplied(sync: TestSync, target: SyncTarget): Promise<void> {
  const { pruned } = await sync.sync(target);
  expect(pruned.waiting).toEqual([]);
  const { store } = sync.context;
  expect(store.applied()?.commit).toBe(target.commit);
  const declared = target.units.flatMap(({ objects }) => objects.map(({ object }) => object));
  expect([...store.inventory().entries.keys()].toSorted(byCode)).toEqual(
    declared.map((object) => objectKey(objectIdOf(object))).toSorted(byCode),
  );
}
