/** A real API server as the target of sync: passes over it, with every port real but the log. */

import type { Client } from '../../../src/kube/client/client.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { SyncContext, SyncTarget } from '../../../src/sync/apply/context.ts';
import { openInventory } from '../../../src/sync/apply/inventory/store.ts';
import { createLiveCache } from '../../../src/sync/apply/live/live-cache.ts';
import { type SyncResult, syncCluster } from '../../../src/sync/apply/sync-cluster.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
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
  return {
    commit,
    digest: digestOf(rendered.map(({ unit, digest }) => [unit, digest])),
    units: rendered,
    budget: { maxObjects: 1000, maxPercent: 100 },
    acknowledgements: [],
    ...more,
  };
}

/** Ready for an inventory: the namespace that `kubenode install` makes is there. */
export async function startTarget(): Promise<ApiServer> {
  const server = await startApiServer();
  const metadata = { name: 'kubenode-system' };
  await server.client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata });
  return server;
}

export interface Bed {
  readonly context: SyncContext;
  pass(target: SyncTarget): Promise<SyncResult>;
  close(): Promise<void>;
}

export const NEVER = new AbortController().signal;

/** As a sync process that has just started: nothing is known that is not in the cluster. */
export async function freshSync(client: Client, hub = HUB): Promise<Bed> {
  const clock = createSystemClock();
  const log = memoryLog();
  const live = createLiveCache({ client, clock, log, random: () => 0.5, onChange: () => undefined });
  const store = await openInventory(client, { clusterUID: await readClusterUID(client, NEVER), scope: '' });
  const context: SyncContext = {
    client,
    live,
    store,
    hub,
    clock,
    log,
    serverForms: new Map(),
    signal: NEVER,
  };
  return { context, pass: (target) => syncCluster(context, target), close: () => live.close() };
}

/** Names of the ConfigMaps in a namespace that carry the mark of any hub. */
export async function marked(client: Client, namespace = 'default'): Promise<string[]> {
  const { items } = await client.list(CONFIG_MAPS, { namespace, labelSelector: 'kubenode.dev/hub' });
  return items.map(({ metadata }) => metadata.name).toSorted((a, b) => (a < b ? -1 : 1));
}
