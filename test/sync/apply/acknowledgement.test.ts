import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { SyncTarget } from '../../../src/sync/apply/context.ts';
import { openInventory } from '../../../src/sync/apply/inventory/store.ts';
import { type SyncResult, syncCluster } from '../../../src/sync/apply/sync-cluster.ts';
import type { Acknowledgement } from '../../../src/sync/judge/delete-budget.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { Crash, type CrashPoint, createFakeCluster, type FakeCluster } from './fake-cluster.ts';
import { configMap, HUB, namespace, unit } from './fixtures.ts';

const KEPT = configMap('kept');
const REMOVED = [
  namespace('shop'),
  ...Array.from({ length: 12 }, (_, index) => configMap(`removed-${index}`)),
];
const FULL = [KEPT, ...REMOVED];

describe('one acknowledgement releases one plan, as a whole and once', () => {
  it('deletes a plan with a Namespace in it without another hold', async () => {
    const cluster = await clusterWith(FULL);
    const acknowledged = await acknowledge(cluster);
    expect(describeResult(await sync(cluster, acknowledged))).toBe('held 0, deleted 12, marked 1');
    expect(describeResult(await sync(cluster, acknowledged))).toBe('held 0, deleted 1, marked 0');
    expect(namesIn(cluster)).toEqual(['kept']);
  });

  it('holds the second wipe of the same objects, until its acknowledgement gives another reason', async () => {
    const cluster = await clusterWith(FULL);
    const acknowledged = await acknowledge(cluster);
    await sync(cluster, acknowledged);
    await sync(cluster, acknowledged);
    await sync(cluster, { ...target(FULL), acknowledgements: acknowledged.acknowledgements });
    expect(describeResult(await sync(cluster, acknowledged))).toBe('held 1, deleted 0, marked 0');
    expect(namesIn(cluster)).toHaveLength(FULL.length);
    const [first] = acknowledged.acknowledgements;
    const again = { unit: 'web', planDigest: first?.planDigest ?? '', reason: 'the second wipe' };
    await sync(cluster, { ...acknowledged, acknowledgements: [again] });
    expect(describeResult(await sync(cluster, acknowledged))).toBe('held 0, deleted 1, marked 0');
  });

  it('holds the same objects again after a revert in the middle of the deletes', async () => {
    const cluster = await clusterWith(FULL);
    const acknowledged = await acknowledge(cluster);
    await sync(cluster, acknowledged);
    await sync(cluster, target(FULL));
    expect(describeResult(await sync(cluster, acknowledged))).toBe('held 1, deleted 0, marked 0');
    expect(namesIn(cluster)).toHaveLength(FULL.length);
  });

  it('does not delete an object that was recreated after its delete was acknowledged', async () => {
    const cluster = await clusterWith(FULL);
    const acknowledged = await acknowledge(cluster);
    await sync(cluster, acknowledged);
    await recreate(cluster, namespace('shop'));
    expect(describeResult(await sync(cluster, acknowledged))).toBe('held 1, deleted 0, marked 0');
    expect(namesIn(cluster)).toEqual(['kept', 'shop']);
  });

  it('releases the whole plan and no second one when the process ends at any call', async () => {
    const start = await clusterWith(FULL);
    const acknowledged = await acknowledge(start);
    const probe = start.copy();
    const calls = await callsOf(probe, acknowledged);
    expect(calls).toBeGreaterThan(20);
    for (const moment of ['before', 'after'] as const) {
      for (let at = 1; at <= calls; at++) {
        const cluster = start.copy();
        await syncUntil(cluster, acknowledged, { at, moment });
        for (let round = 0; round < 2; round++) await sync(cluster, acknowledged);
        expect([moment, at, namesIn(cluster)]).toEqual([moment, at, ['kept']]);
        await sync(cluster, { ...target(FULL), acknowledgements: acknowledged.acknowledgements });
        expect([moment, at, describeResult(await sync(cluster, acknowledged))]).toEqual([
          moment,
          at,
          'held 1, deleted 0, marked 0',
        ]);
      }
    }
  });
});

async function clusterWith(objects: readonly KubeObject[]): Promise<FakeCluster> {
  const cluster = createFakeCluster();
  await sync(cluster, target(objects));
  return cluster;
}

/** What remains is declared; the hold of everything else is acknowledged. */
async function acknowledge(cluster: FakeCluster): Promise<SyncTarget> {
  const wipe = target([KEPT]);
  const { plan } = await sync(cluster, wipe);
  const acknowledgements: Acknowledgement[] = plan.holds.map(({ unit: name, planDigest }) => ({
    unit: name,
    planDigest,
    reason: 'reviewed',
  }));
  expect(acknowledgements).toHaveLength(1);
  return { ...wipe, acknowledgements };
}

function target(objects: readonly KubeObject[]): SyncTarget {
  const units = [unit('web', objects)];
  const digest = digestOf(units.map((each) => each.digest));
  const budget = { maxObjects: 2, maxPercent: 0 };
  return { commit: digest.slice(7, 47), digest, units, budget, acknowledgements: [] };
}

function sync(cluster: FakeCluster, desired: SyncTarget): Promise<SyncResult> {
  return run(cluster.process(), desired);
}

async function callsOf(cluster: FakeCluster, desired: SyncTarget): Promise<number> {
  const process = cluster.process();
  await run(process, desired);
  return process.calls;
}

async function syncUntil(cluster: FakeCluster, desired: SyncTarget, crash: CrashPoint): Promise<void> {
  try {
    await run(cluster.process({ crash }), desired);
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
  }
}

async function run(
  { client, live }: ReturnType<FakeCluster['process']>,
  desired: SyncTarget,
): Promise<SyncResult> {
  const { signal } = new AbortController();
  const store = await openInventory(client, { clusterUID: 'cluster-uid', scope: '', epoch: () => 1 });
  const context = { client, live, store, hub: HUB, scope: '', clock: virtualClock(), log: memoryLog() };
  return syncCluster({ ...context, serverForms: new Map(), applied: async () => undefined, signal }, desired);
}

/** As a backup tool does: with the labels of the former object, and a new UID. */
async function recreate(cluster: FakeCluster, object: KubeObject): Promise<void> {
  const { client } = cluster.process();
  const resource = await client.resourceFor(object.apiVersion, object.kind);
  const { name } = object.metadata;
  const found = await client.get(resource, { name });
  const { uid = '', resourceVersion = '', labels = {} } = found.metadata;
  await client.delete(resource, { name }, { uid, resourceVersion });
  await client.create(resource, { ...object, metadata: { name, labels } });
}

function describeResult({ plan, pruned }: SyncResult): string {
  return `held ${plan.holds.length}, deleted ${pruned.deleted}, marked ${pruned.marked}`;
}

function namesIn({ objects }: FakeCluster): string[] {
  const names = [...objects.values()].map(({ metadata }) => metadata.name);
  return names.filter((name) => !name.startsWith('inventory')).toSorted();
}
