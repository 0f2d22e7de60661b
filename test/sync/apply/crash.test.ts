import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectKey } from '../../../src/kube/objects/object-id.ts';
import type { SyncTarget } from '../../../src/sync/apply/context.ts';
import { openInventory } from '../../../src/sync/apply/inventory/store.ts';
import { syncCluster } from '../../../src/sync/apply/sync-cluster.ts';
import type { RenderedUnit } from '../../../src/sync/rendered.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { Crash, type MemoryCluster, memoryCluster, type Process } from './memory-cluster.ts';
import { configMap, HUB, unit } from './world.ts';

const OBJECTS = 200;
const NEW = Array.from({ length: OBJECTS }, (_, index) => configMap(`new-${index}`));
const OLD = [configMap('old-0'), configMap('old-1')];
const before = target('a', [unit('web', OLD), unit('other', [configMap('x')])]);
/** Two units, one object that changes, one that moves, 200 that come. */
const after = target('b', [
  unit('web', [configMap('old-0', { key: 'changed' }), ...NEW]),
  unit('other', [configMap('x'), configMap('old-1')]),
]);

describe('S1 leaves no orphan and deletes nothing wrong when the process ends at any call', () => {
  it('loses no object and deletes none that it should not, ended before or after any call of an apply and its revert', {
    timeout: 300_000,
  }, async () => {
    const start = memoryCluster();
    await converge(start, before);
    const applied = start.copy();
    const callsOfApply = await converge(applied, after);
    const callsOfRevert = await converge(applied.copy(), before);
    expect(callsOfApply).toBeGreaterThan(OBJECTS);
    expect(callsOfRevert).toBeGreaterThan(2 * OBJECTS);

    const faults: string[] = [];
    const known = new Set<string>();
    for (const moment of ['before', 'after'] as const) {
      for (let at = 1; at <= callsOfApply; at += 1) {
        faults.push(...(await crashed(start.copy(), after, { at, moment, known })));
      }
      for (let at = 1; at <= callsOfRevert; at += 1) {
        faults.push(...(await crashed(applied.copy(), before, { at, moment, known })));
      }
    }
    // A write is seen by the state before it and the state after it; reads leave no state of their own.
    expect(known.size).toBeGreaterThan(2 * OBJECTS);
    expect(faults).toEqual([]);
  });

  it('keeps count of crashes that follow one another', async () => {
    const cluster = memoryCluster();
    await converge(cluster, before);
    // Each run gets three calls further than it takes to look, until the work is done.
    for (let run = 0; run < 500; run += 1) {
      const end = { at: 4 + (run % 5), moment: run % 2 ? 'before' : 'after' } as const;
      await attempt(cluster, run % 7 < 5 ? after : before, end);
    }
    await converge(cluster, after);
    expect(problemsOf(cluster, after)).toEqual([]);
    await converge(cluster, before);
    expect(problemsOf(cluster, before)).toEqual([]);
  });
});

interface End {
  readonly at: number;
  readonly moment: 'before' | 'after';
}

/**
 * Ends a process at one call; then git may go on or be reverted: both must come out right. Nothing of the process
 * outlives it, so where the cluster is left as an earlier end left it, the rest is known already.
 */
async function crashed(
  cluster: MemoryCluster,
  wanted: SyncTarget,
  { known, ...end }: End & { readonly known: Set<string> },
): Promise<string[]> {
  await attempt(cluster, wanted, end);
  const label = `${wanted.commit} ended ${end.moment} call ${end.at}`;
  const wrong = cluster.deleted
    .filter((object) => isWanted(object, wanted))
    .map((object) => `deleted ${object.metadata.name}`);
  const state = `${wanted.commit} ${cluster.version}`;
  if (known.has(state)) return wrong.map((problem) => `${label}: ${problem}`);
  known.add(state);
  const other = cluster.copy();
  await converge(cluster, before);
  await converge(other, after);
  return [...wrong, ...problemsOf(cluster, before), ...problemsOf(other, after)].map(
    (problem) => `${label}: ${problem}`,
  );
}

/** True when the work was done before the end came. */
async function attempt(cluster: MemoryCluster, wanted: SyncTarget, end: End): Promise<boolean> {
  try {
    await passOf(cluster.process(end), wanted);
    return true;
  } catch (error) {
    if (error instanceof Crash) return false;
    throw error;
  }
}

async function converge(cluster: MemoryCluster, wanted: SyncTarget): Promise<number> {
  const process = cluster.process();
  const { pruned } = await passOf(process, wanted);
  expect(pruned.waiting).toEqual([]);
  return process.calls;
}

async function passOf({ client, live }: Process, wanted: SyncTarget): ReturnType<typeof syncCluster> {
  const signal = new AbortController().signal;
  const store = await openInventory(client, { clusterUID: 'cluster-uid', scope: '' });
  return syncCluster(
    {
      client,
      live,
      store,
      hub: HUB,
      clock: virtualClock(),
      log: memoryLog(),
      serverForms: new Map(),
      signal,
    },
    wanted,
  );
}

/** What stands in the cluster and should not, or does not and should; and an inventory that says otherwise. */
function problemsOf(cluster: MemoryCluster, wanted: SyncTarget): string[] {
  const mine = [...cluster.objects].filter(
    ([, { metadata }]) => metadata.labels?.['kubenode.dev/hub'] !== undefined,
  );
  const there = new Map(mine);
  const want = new Map(
    wanted.units.flatMap(({ unit: name, objects }) =>
      objects.map(({ object }) => [keyOfObject(object), `${name} ${JSON.stringify(object['data'])}`]),
    ),
  );
  const orphans = [...there.keys()].filter((key) => !want.has(key)).map((key) => `orphan ${key}`);
  const wrong = [...want].flatMap(([key, content]) => {
    const live = there.get(key);
    if (!live) return [`missing ${key}`];
    return `${live.metadata.labels?.['kubenode.dev/unit']} ${JSON.stringify(live['data'])}` === content
      ? []
      : [`wrong ${key}`];
  });
  const listed = [...cluster.objects.values()].flatMap(({ metadata, ...rest }) =>
    metadata.name.startsWith('inventory-')
      ? (rest['data'] as { entries: string }).entries.split('\n').filter(Boolean)
      : [],
  );
  const count = listed.length === want.size ? [] : [`inventory of ${listed.length}, wanted ${want.size}`];
  return [...orphans, ...wrong, ...count];
}

function isWanted(object: KubeObject, { units }: SyncTarget): boolean {
  return units.some(({ objects }) =>
    objects.some(
      (rendered) =>
        rendered.object.metadata.name === object.metadata.name &&
        object.kind === rendered.object.kind &&
        !object.metadata.name.startsWith('inventory'),
    ),
  );
}

function keyOfObject({ kind, metadata }: KubeObject): string {
  return objectKey({ group: '', kind, namespace: metadata.namespace ?? '', name: metadata.name });
}

function target(letter: string, units: readonly RenderedUnit[]): SyncTarget {
  const digest = digestOf(units.map(({ digest: one }) => one));
  return {
    commit: letter.repeat(40),
    digest,
    units,
    budget: { maxObjects: 1000, maxPercent: 100 },
    acknowledgements: [],
  };
}
