import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectKey } from '../../../src/kube/objects/object-id.ts';
import type { SyncTarget } from '../../../src/sync/apply/context.ts';
import { openInventory } from '../../../src/sync/apply/inventory/store.ts';
import { type SyncResult, syncCluster } from '../../../src/sync/apply/sync-cluster.ts';
import type { RenderedUnit } from '../../../src/sync/rendered.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { LONG } from '../../support/sweep-size.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import {
  Crash,
  type CrashPoint,
  createFakeCluster,
  type FakeCluster,
  type FakeProcess,
} from './fake-cluster.ts';
import { configMap, HUB, unit } from './fixtures.ts';

const OBJECTS = LONG ? 200 : 60;
const NEW = Array.from({ length: OBJECTS }, (_, index) => configMap(`new-${index}`));
const OLD = [configMap('old-0'), configMap('old-1')];
const before = target('a', [unit('web', OLD), unit('other', [configMap('x')])]);
/** Two units: one object changes, one moves to the other unit, many are new. */
const after = target('b', [
  unit('web', [configMap('old-0', { key: 'changed' }), ...NEW]),
  unit('other', [configMap('x'), configMap('old-1')]),
]);

describe('S1 leaves no orphan and deletes nothing wrong when the process ends at any call', () => {
  it('leaves no orphan and deletes nothing wrongly, ended before or after any call of an apply and its revert', async () => {
    const start = createFakeCluster();
    await converge(start, before);
    const applied = start.copy();
    const callsOfApply = await converge(applied, after);
    const callsOfRevert = await converge(applied.copy(), before);
    expect(callsOfApply).toBeGreaterThan(OBJECTS);
    expect(callsOfRevert).toBeGreaterThan(2 * OBJECTS);

    const faults: string[] = [];
    const known = new Set<string>();
    const points = (['before', 'after'] as const).flatMap((moment) => [
      ...crashPoints(callsOfApply, moment, { cluster: start, desired: after }),
      ...crashPoints(callsOfRevert, moment, { cluster: applied, desired: before }),
    ]);
    for (const { cluster, desired, at, moment } of points) {
      faults.push(...(await problemsAfterCrash(cluster.copy(), desired, { at, moment, known })));
    }
    // Each write has a state before and a state after it; reads add no states.
    expect(known.size).toBeGreaterThan(2 * OBJECTS);
    expect(faults).toEqual([]);
  });

  it('survives several crashes in a row', async () => {
    const cluster = createFakeCluster();
    await converge(cluster, before);
    // Each run makes a few calls more than the reads need, until the work is done.
    for (let run = 0; run < 500; run += 1) {
      const crash = { at: 4 + (run % 5), moment: run % 2 ? 'before' : 'after' } as const;
      await syncUntil(cluster, run % 7 < 5 ? after : before, crash);
    }
    await converge(cluster, after);
    expect(problemsOf(cluster, after)).toEqual([]);
    await converge(cluster, before);
    expect(problemsOf(cluster, before)).toEqual([]);
  });
});

interface CrashRun extends CrashPoint {
  readonly cluster: FakeCluster;
  readonly desired: SyncTarget;
}

function crashPoints(
  calls: number,
  moment: CrashPoint['moment'],
  run: Pick<CrashRun, 'cluster' | 'desired'>,
): readonly CrashRun[] {
  return Array.from({ length: calls }, (_, index) => ({ ...run, moment, at: index + 1 }));
}

/**
 * Crashes at one call; then git either stays or is reverted, and both must end well. The process keeps nothing beyond its
 * end, so a cluster state that an earlier crash left is not tested again.
 */
async function problemsAfterCrash(
  cluster: FakeCluster,
  desired: SyncTarget,
  { known, ...crash }: CrashPoint & { readonly known: Set<string> },
): Promise<string[]> {
  await syncUntil(cluster, desired, crash);
  const label = `${desired.commit} ended ${crash.moment} call ${crash.at}`;
  const wrong = cluster.deleted
    .filter((object) => isDesired(object, desired))
    .map((object) => `deleted ${object.metadata.name}`);
  const state = `${desired.commit} ${cluster.version}`;
  if (known.has(state)) return wrong.map((problem) => `${label}: ${problem}`);
  known.add(state);
  const other = cluster.copy();
  await converge(cluster, before);
  await converge(other, after);
  return [...wrong, ...problemsOf(cluster, before), ...problemsOf(other, after)].map(
    (problem) => `${label}: ${problem}`,
  );
}

async function syncUntil(cluster: FakeCluster, desired: SyncTarget, crash: CrashPoint): Promise<void> {
  try {
    await sync(cluster.process({ crash }), desired);
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
  }
}

async function converge(cluster: FakeCluster, desired: SyncTarget): Promise<number> {
  const process = cluster.process();
  const { pruned } = await sync(process, desired);
  expect(pruned.waiting).toEqual([]);
  return process.calls;
}

async function sync({ client, live }: FakeProcess, desired: SyncTarget): Promise<SyncResult> {
  const signal = new AbortController().signal;
  const store = await openInventory(client, { clusterUID: 'cluster-uid', scope: '', epoch: () => 1 });
  return syncCluster(
    {
      client,
      live,
      store,
      hub: HUB,
      scope: '',
      clock: virtualClock(),
      log: memoryLog(),
      serverForms: new Map(),
      applied: async () => undefined,
      signal,
    },
    desired,
  );
}

/** Orphaned, missing or wrong objects, and an inventory that does not match. */
function problemsOf(cluster: FakeCluster, desired: SyncTarget): string[] {
  const owned = new Map(
    [...cluster.objects].filter(([, { metadata }]) => metadata.labels?.['kubenode.dev/hub'] !== undefined),
  );
  const expected = new Map(
    desired.units.flatMap(({ unit: name, objects }) =>
      objects.map(({ object }) => [keyOfObject(object), `${name} ${JSON.stringify(object['data'])}`]),
    ),
  );
  const orphans = [...owned.keys()].filter((key) => !expected.has(key)).map((key) => `orphan ${key}`);
  const wrong = [...expected].flatMap(([key, content]) => {
    const live = owned.get(key);
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
  const count =
    listed.length === expected.size
      ? []
      : [`expected ${expected.size} inventory entries, got ${listed.length}`];
  return [...orphans, ...wrong, ...count];
}

function isDesired(object: KubeObject, { units }: SyncTarget): boolean {
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
  return {
    commit: letter.repeat(40),
    digest: digestOf(units.map(({ digest }) => digest)),
    units,
    budget: { maxObjects: 1000, maxPercent: 100 },
    acknowledgements: [],
  };
}
