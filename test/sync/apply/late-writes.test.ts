/** Two processes that write one cluster in two terms of its Lease, and a write of the first one that arrives late. */
import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import type { SyncContext, SyncTarget } from '../../../src/sync/apply/context.ts';
import { EpochSuperseded } from '../../../src/sync/apply/inventory/config-maps.ts';
import { openInventory } from '../../../src/sync/apply/inventory/store.ts';
import { syncCluster } from '../../../src/sync/apply/sync-cluster.ts';
import type { RenderedUnit } from '../../../src/sync/rendered.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { createFakeCluster, type FakeCluster, type FakeProcess } from './fake-cluster.ts';
import { configMap, HUB, unit } from './fixtures.ts';

/** A unit more and one less by moves, an object that changes and one that is new: ConfigMaps are created, replaced and deleted. */
const [moved, back] = [configMap('m'), configMap('o')];
const before = target('a', [unit('web', [configMap('w'), moved]), unit('old', [back])]);
const changed = [configMap('w', { key: 'new' }), back, configMap('k')];
const after = target('b', [unit('web', changed), unit('new', [moved])]);
const revert = target('c', before.units);

describe('S28 a late write of an earlier holder of the Lease', () => {
  it('is refused at every point, once the next holder has written its epoch', async () => {
    const start = await clusterAt(before);
    const writes = await inventoryWritesOf(start.copy());
    expect(writes).toBeGreaterThan(6);
    const accepted: string[] = [];
    const wrong: string[] = [];
    for (let at = 1; at <= writes; at += 1) {
      const requests = await requestsOf(await afterHanging(start, at));
      for (let moment = 1; moment <= requests + 1; moment += 1) {
        const { cluster, late } = await hangingWrite(start, at);
        const outcome = await takeOver(cluster, late, moment);
        if (outcome === 'accepted after the claim') accepted.push(`write ${at} at request ${moment}`);
        wrong.push(...problemsOf(cluster, revert).map((problem) => `write ${at} at ${moment}: ${problem}`));
      }
    }
    expect(accepted).toEqual([]);
    expect(wrong).toEqual([]);
  });
});

describe('a process with a lower epoch', () => {
  it('writes nothing any more and reports why, until its epoch is the higher one', async () => {
    const cluster = await clusterAt(before);
    await sync(cluster.process(), after, 7);
    const { version } = cluster;
    const refused: unknown = await sync(cluster.process(), revert, 6).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EpochSuperseded);
    expect(refused).toMatchObject({
      recorded: 7,
      message: expect.stringMatching(
        /written with epoch 7 of its Lease.*this process holds epoch 6/,
      ) as string,
    });
    expect(cluster.version).toBe(version);
    await sync(cluster.process(), revert, 8);
    expect(problemsOf(cluster, revert)).toEqual([]);
    expect(epochsIn(cluster)).toEqual(new Set(['8']));
  });

  it('writes nothing without the Lease', async () => {
    const cluster = await clusterAt(before);
    const { version } = cluster;
    await expect(sync(cluster.process(), after, undefined)).rejects.toMatchObject({ code: 'Aborted' });
    expect(cluster.version).toBe(version);
  });

  it('costs a process that takes over an unchanged cluster no write', async () => {
    const cluster = await clusterAt(before);
    const { version } = cluster;
    await sync(cluster.process(), before, 2);
    expect(cluster.version).toBe(version);
  });

  it('writes its epoch before it corrects an object in the cluster', async () => {
    const cluster = await clusterAt(before);
    const { client } = cluster.process();
    await client.apply(CONFIG_MAPS, drifted(cluster), { fieldManager: 'somebody' });
    const written: string[] = [];
    const process = cluster.process();
    await sync({ ...process, client: recording(process.client, written) }, before, 2);
    expect(written).toEqual(['inventory', 'inventory-web-0', 'inventory-old-0', 'w']);
  });

  it('creates no ConfigMap for a unit whose objects moved away', async () => {
    const cluster = await clusterAt(before);
    await sync(cluster.process(), after, 1);
    await sync(cluster.process(), revert, 1);
    await sync(cluster.process(), target('d', [unit('web', [configMap('w'), moved]), unit('old', [])]), 2);
    const names = [...cluster.objects.values()].map(({ metadata }) => metadata.name);
    expect(names.filter((name) => name.startsWith('inventory-new'))).toEqual([]);
  });

  it('does not overwrite what an interrupted takeover has written', async () => {
    const cluster = await clusterAt(before);
    const interrupted = cluster.process({ crash: { at: 2, moment: 'after' } });
    await expect(sync(interrupted, after, 7)).rejects.toThrow('ended at call 2');
    await expect(sync(cluster.process(), after, 6)).rejects.toThrow(EpochSuperseded);
    await sync(cluster.process(), after, 7);
    expect(problemsOf(cluster, after)).toEqual([]);
  });
});

interface LateWrite {
  deliver(): Promise<'accepted' | 'refused'>;
}

/** The first holder applies a commit, and its n-th write of the inventory is on the way when the process hangs for good. */
async function hangingWrite(
  start: FakeCluster,
  at: number,
): Promise<{ readonly cluster: FakeCluster; readonly late: LateWrite }> {
  const cluster = start.copy();
  const process = cluster.process();
  const hung = Promise.withResolvers<LateWrite>();
  let count = 0;
  const client = intercepted(process.client, (object, send) => {
    if (!isInventory(object)) return send();
    count += 1;
    if (count !== at) return send();
    hung.resolve({ deliver: async () => send().then(() => 'accepted', refusal) });
    return new Promise(() => undefined);
  });
  void sync({ ...process, client }, after, 1).catch(hung.reject);
  return { cluster, late: await hung.promise };
}

function refusal(error: unknown): 'refused' {
  if (isKubeError(error, 'Conflict', 'AlreadyExists', 'NotFound')) return 'refused';
  throw error;
}

async function afterHanging(start: FakeCluster, at: number): Promise<FakeCluster> {
  return (await hangingWrite(start, at)).cluster;
}

/** The second holder reverts the commit, and starts over as often as it meets a conflict. */
async function takeOver(
  cluster: FakeCluster,
  late: LateWrite,
  moment: number,
): Promise<'accepted after the claim' | 'in time or refused'> {
  let request = 0;
  let isClaimed = false;
  let outcome: 'accepted after the claim' | 'in time or refused' = 'in time or refused';
  const deliver = async (): Promise<void> => {
    request += 1;
    if (request !== moment) return;
    if ((await late.deliver()) === 'accepted' && isClaimed) outcome = 'accepted after the claim';
  };
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const process = cluster.process();
    const client = intercepted(process.client, async (object, send) => {
      await deliver();
      // The first object is written only after the claim.
      isClaimed ||= !isInventory(object);
      return send();
    });
    try {
      await sync({ ...process, client }, revert, 2);
      break;
    } catch (error) {
      refusal(error);
    }
  }
  // The moments after its last request.
  isClaimed = true;
  for (let left = moment - request; left > 0; left -= 1) await deliver();
  return outcome;
}

async function inventoryWritesOf(cluster: FakeCluster): Promise<number> {
  const process = cluster.process();
  const written: string[] = [];
  await sync({ ...process, client: recording(process.client, written) }, after, 1);
  return written.filter((name) => name.startsWith('inventory')).length;
}

async function requestsOf(cluster: FakeCluster): Promise<number> {
  const process = cluster.process();
  const written: string[] = [];
  await sync({ ...process, client: recording(process.client, written) }, revert, 2);
  return written.length;
}

function recording(client: Client, written: string[]): Client {
  return intercepted(client, (object, send) => {
    written.push(object.metadata.name);
    return send();
  });
}

type Intercept = (object: Pick<KubeObject, 'metadata'>, send: () => Promise<never>) => Promise<never>;

/** Every write goes through `act`. */
function intercepted(client: Client, act: Intercept): Client {
  return {
    ...client,
    apply: (resource, object, options) => act(object, () => client.apply(resource, object, options)),
    create: (resource, object, options) => act(object, () => client.create(resource, object, options)),
    replace: (resource, object, options) => act(object, () => client.replace(resource, object, options)),
    delete: (resource, name, options) =>
      act({ metadata: name }, () => client.delete(resource, name, options) as Promise<never>),
  };
}

function isInventory({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.name.startsWith('inventory');
}

async function clusterAt(desired: SyncTarget): Promise<FakeCluster> {
  const cluster = createFakeCluster();
  await sync(cluster.process(), desired, 1);
  return cluster;
}

async function sync(
  { client, live }: Pick<FakeProcess, 'client' | 'live'>,
  desired: SyncTarget,
  epoch: number | undefined,
): Promise<void> {
  const store = await openInventory(client, { clusterUID: 'cluster-uid', scope: '', epoch: () => epoch });
  const context: Omit<SyncContext, 'clock' | 'log' | 'signal'> = {
    client,
    live,
    store,
    hub: HUB,
    scope: '',
    serverForms: new Map(),
    applied: async () => undefined,
  };
  const { signal } = new AbortController();
  await syncCluster({ ...context, clock: virtualClock(), log: memoryLog(), signal }, desired);
}

/** Objects with owner labels that are not as git declares them, and entries of the inventory that are too many or missing. */
function problemsOf({ objects }: FakeCluster, { units }: SyncTarget): string[] {
  const owned = [...objects.values()].filter((object) => !isInventory(object)).map(textOf);
  const declared = units.flatMap((rendered) => rendered.objects.map(({ object }) => textOf(object)));
  const listed = [...objects.values()].filter(isInventory).flatMap(entriesIn);
  const names = units.flatMap((rendered) => rendered.objects.map(({ object }) => object.metadata.name));
  return [...differences('object', owned, declared), ...differences('entry', listed, names)];
}

function textOf({ metadata, ...object }: KubeObject): string {
  return `${metadata.name} ${JSON.stringify(object['data'])}`;
}

function entriesIn(object: KubeObject): string[] {
  const { entries = '' } = object['data'] as { entries?: string };
  return entries.split('\n').flatMap((line) => (line ? (JSON.parse(line) as { name: string }).name : []));
}

function differences(what: string, found: readonly string[], expected: readonly string[]): string[] {
  return [
    ...found.filter((each) => !expected.includes(each)).map((each) => `${what} ${each} is left`),
    ...expected.filter((each) => !found.includes(each)).map((each) => `${what} ${each} is missing`),
  ];
}

function epochsIn({ objects }: FakeCluster): Set<string | undefined> {
  const maps = [...objects.values()].filter(isInventory);
  return new Set(maps.map((object) => (object['data'] as { epoch?: string }).epoch));
}

function drifted({ objects }: FakeCluster): KubeObject {
  const found = [...objects.values()].find(({ metadata }) => metadata.name === 'w');
  if (!found) throw new Error('expected the object w');
  const { resourceVersion: _, ...metadata } = found.metadata;
  return { ...found, metadata, data: { key: 'theirs' } };
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
