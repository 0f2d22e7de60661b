import { describe, expect, it } from 'vitest';
import type { Client, WatchOptions } from '../../../src/kube/client/client.ts';
import { isKubeError, KubeError } from '../../../src/kube/client/errors.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { readAgeKeys } from '../../../src/kube/sops/age-keys.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import {
  type ClusterSyncer,
  type ClusterSyncerOptions,
  createClusterSyncer,
} from '../../../src/sync/apply/cluster-syncer.ts';
import { IdentityMismatch } from '../../../src/sync/apply/session.ts';
import type { DecryptionKeys } from '../../../src/sync/decrypt-objects.ts';
import { withCorrection } from '../../../src/sync/drift-history.ts';
import { encryptedObject, firstKeys, POST_QUANTUM_IDENTITY } from '../../kube/sops/encrypted-files.ts';
import { NOW } from '../../rollout/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { correctionAt } from '../drift-builders.ts';
import { createFakeCluster, type FakeCluster } from './fake-cluster.ts';
import { COMMIT, configMap, HELD, HUB, namespace, OLD_COMMIT, unit } from './fixtures.ts';

const RENDERED = { target: 'prod', units: [unit('web', [configMap('a')])], digest: 'sha256:now' };

const CHANGED = { ...RENDERED, units: [unit('web', [configMap('b')])], digest: 'sha256:next' };

const content = async (): Promise<typeof RENDERED> => RENDERED;

const bothContent = async (): Promise<typeof RENDERED> => ({
  ...RENDERED,
  units: [unit('web', [configMap('a'), configMap('b')])],
});

function limitedContent(name: string): () => Promise<typeof RENDERED> {
  const limits = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'DefenderPolicy', metadata: { name } };
  return async () => ({ ...RENDERED, units: [unit('web', [configMap('a'), limits])] });
}

describe('createClusterSyncer', () => {
  it.each([
    ['S32 writes what was promoted', 'Apply', 'sha256:now', true],
    [
      'S32 does not write content that was not promoted, even for the same commit',
      'Apply',
      'sha256:then',
      false,
    ],
    ['S32 writes nothing in mode Observe', 'Observe', 'sha256:now', false],
  ] as const)('%s', async (_, mode, digest, written) => {
    const cluster = createFakeCluster();
    const syncer = await syncerFor(cluster);
    const { signal } = new AbortController();
    const target = { mode, commit: COMMIT, digest, pipeline: 'fleet', because: 'next in line', content };
    await syncer.reconcile(target, signal);
    await syncer.close();
    expect([...cluster.objects.keys()].some((key) => key.includes('ConfigMap') && key.endsWith('a'))).toBe(
      written,
    );
    expect(syncer.report().work?.digest).toBe('sha256:now');
  });

  it('SAF-3 reports the reason while a declared kind cannot be read, and is in sync again after the revert', async () => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    const pages: Client['pages'] = (resource, options) => {
      if (resource.kind !== 'Secret') return client.pages(resource, options);
      throw new KubeError('Forbidden', 'no rights on secrets', { status: 403 });
    };
    const syncer = await syncerFor(cluster, {
      connect: async () => ({ ...client, pages, watch: quietWatch }),
    });
    const { signal } = new AbortController();
    const secret = { ...configMap('s'), kind: 'Secret' };
    const withSecret = { ...RENDERED, units: [unit('web', [configMap('a'), secret])] };
    const target = { mode: 'Apply', commit: COMMIT, pipeline: 'fleet', because: 'next in line' } as const;
    await syncer.reconcile({ ...target, content: async () => withSecret }, signal);
    expect(cluster.objects.has('ConfigMap default/a')).toBe(true);
    expect(syncer.report()).toMatchObject({
      synced: { status: 'False', reason: 'Waiting', message: expect.stringContaining('no rights') as string },
      health: { answer: 'Unknown' },
    });
    await syncer.reconcile({ ...target, content }, signal);
    expect(syncer.report()).toMatchObject({ synced: { status: 'True' }, health: { answer: 'Settled' } });
    await syncer.close();
  });

  it.each([
    [
      'SAF-2 applies all others when the writes of one object are never answered',
      ['b'],
      'a c d e f g',
      'reported: Timeout',
    ],
    [
      'SAF-2 stops when the writes of many objects are never answered',
      'abcdefg'.split(''),
      '',
      'rejected: Timeout',
    ],
  ])('%s', async (_, hanging, applied, end) => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    const apply: Client['apply'] = async (resource, object, options) => {
      if (!hanging.includes(object.metadata.name)) return client.apply(resource, object, options);
      throw new KubeError('Timeout', 'no answer within 30 s');
    };
    const syncer = await syncerFor(cluster, {
      connect: async () => ({ ...client, apply, watch: quietWatch }),
    });
    const { signal } = new AbortController();
    const names = 'abcdefg'.split('');
    const many = {
      ...RENDERED,
      units: [
        unit(
          'web',
          names.map((name) => configMap(name)),
        ),
      ],
    };
    const target = { mode: 'Apply', commit: COMMIT, pipeline: 'fleet', because: 'next in line' } as const;
    const ended = await syncer.reconcile({ ...target, content: async () => many }, signal).then(
      () => `reported: ${syncer.report().synced.reason}`,
      (error: unknown) => `rejected: ${isKubeError(error) ? error.code : String(error)}`,
    );
    expect(ended).toBe(end);
    expect(names.filter((name) => cluster.objects.has(`ConfigMap default/${name}`)).join(' ')).toBe(applied);
    await syncer.close();
  });

  it('SAF-2, S39 records a commit as applied while only finalizers of others keep what it removed', async () => {
    const cluster = createFakeCluster();
    const { client } = cluster.process();
    const keep: Client['delete'] = async (resource, name) => {
      const found = await client.get(resource, name);
      const ending = { deletionTimestamp: NOW.toISOString(), finalizers: ['x/y'] };
      await client.replace(resource, { ...found, metadata: { ...found.metadata, ...ending } });
    };
    const syncer = await syncerFor(cluster, {
      connect: async () => ({ ...client, delete: keep, watch: quietWatch }),
    });
    const { signal } = new AbortController();
    const target = { mode: 'Apply', pipeline: 'fleet', because: 'next in line' } as const;
    await syncer.reconcile({ ...target, commit: OLD_COMMIT, content: bothContent }, signal);
    await syncer.reconcile({ ...target, commit: COMMIT, content }, signal);
    expect(syncer.report()).toMatchObject({
      commits: [OLD_COMMIT, COMMIT],
      work: {
        state: 'Applied',
        failures: [{ object: 'ConfigMap default/b', reason: 'ForeignFinalizer' }],
      },
      synced: { status: 'True', message: expect.stringContaining('finalizers x/y') as string },
    });
    await syncer.close();
  });

  it('S24 leaves limits as they are in a rollback: it writes none of the revision and deletes none', async () => {
    const cluster = createFakeCluster();
    const syncer = await syncerFor(cluster);
    const { signal } = new AbortController();
    const target = { mode: 'Apply', pipeline: 'fleet', because: 'next in line' } as const;
    await syncer.reconcile({ ...target, commit: COMMIT, content: limitedContent('in-force') }, signal);
    const back = {
      ...target,
      commit: OLD_COMMIT,
      isRollback: true,
      content: limitedContent('older'),
    } as const;
    await syncer.reconcile(back, signal);
    const names = [...cluster.objects.values()].filter(({ kind }) => kind === 'DefenderPolicy');
    expect(names.map(({ metadata }) => metadata.name)).toEqual(['in-force']);
    expect(syncer.report().synced).toMatchObject({ status: 'False', reason: 'ObjectPaused' });
    await syncer.close();
  });

  it('S17 reports what it corrected, counted on from what the hub has recorded, even if it fails half-way', async () => {
    const cluster = createFakeCluster();
    const { signal } = new AbortController();
    const promoted = { mode: 'Apply', commit: COMMIT, pipeline: 'fleet', because: 'next in line' } as const;
    const first = await syncerFor(cluster);
    await first.reconcile({ ...promoted, content: bothContent }, signal);
    expect(first.report().drift).toBeUndefined();
    const { client } = cluster.process();
    for (const name of ['a', 'b']) {
      const found = await client.get(CONFIG_MAPS, { name, namespace: 'default' });
      await client.replace(CONFIG_MAPS, { ...found, data: { key: 'foreign' } });
    }
    const recorded = withCorrection(undefined, correctionAt(0));
    const apply: Client['apply'] = async (resource, object, options) => {
      if (object.metadata.name === 'a') return client.apply(resource, object, options);
      await new Promise(setImmediate);
      throw new KubeError('Unreachable', 'connection reset');
    };
    const second = await syncerFor(cluster, {
      connect: async () => ({ ...client, apply, watch: quietWatch }),
      recordedDrift: () => recorded,
    });
    const ended = await second.reconcile({ ...promoted, content: bothContent }, signal).catch(String);
    expect([ended, second.report().drift?.total]).toEqual([expect.stringContaining('connection reset'), 2]);
    expect(second.report().drift?.objects).toMatchObject([
      {
        object: 'ConfigMap default/a',
        unit: 'web',
        fields: ['data.key'],
        commit: COMMIT,
        since: NOW.toISOString(),
        count: 2,
      },
    ]);
    await Promise.all([first.close(), second.close()]);
  });

  it('observes what another process has written to the inventory, also after the Lease changed hands twice', async () => {
    const cluster = createFakeCluster();
    let blocked: string | undefined;
    const observer = await syncerFor(cluster, { lease: { ...HELD, notHeldReason: () => blocked } });
    const writer = await syncerFor(cluster);
    const { signal } = new AbortController();
    const target = {
      mode: 'Apply',
      commit: COMMIT,
      pipeline: 'fleet',
      because: 'next in line',
      content,
    } as const;
    const next = 'b'.repeat(40);
    await observer.reconcile(target, signal);

    blocked = 'another process holds the Lease';
    await writer.reconcile({ ...target, commit: next, content: async () => CHANGED }, signal);
    await observer.reconcile(target, signal);
    expect(observer.report().commits).toContain(next);

    const last = 'c'.repeat(40);
    await writer.reconcile({ ...target, commit: last, content: async () => RENDERED }, signal);
    blocked = undefined;
    observer.forgetInventory();
    await observer.reconcile(undefined, signal);
    expect(observer.report().commits).toContain(last);
    await Promise.all([observer.close(), writer.close()]);
  });

  it.each<[name: string, data: Record<string, string>, reason: string]>([
    ['is not JSON', { entries: 'broken' }, 'is not valid JSON'],
    ['lost its entries', {}, 'data.entries is missing'],
  ])(
    'SAF-19 reports an inventory that %s as damaged, and not the cluster as unreachable',
    async (_, data, reason) => {
      const cluster = createFakeCluster();
      const syncer = await syncerFor(cluster);
      const { signal } = new AbortController();
      const target = {
        mode: 'Apply',
        commit: COMMIT,
        pipeline: 'fleet',
        because: 'next in line',
        content,
      } as const;
      await syncer.reconcile(target, signal);
      const { client } = cluster.process();
      const name = { name: 'inventory-web-0', namespace: 'kubenode-system' };
      const chunk = await client.get(CONFIG_MAPS, name);
      const { clusterUID = '' } = chunk['data'] as Record<string, string>;
      await client.replace(CONFIG_MAPS, { ...chunk, data: { clusterUID, ...data } });
      syncer.forgetInventory();
      const error: unknown = await syncer.reconcile(target, signal).catch((caught: unknown) => caught);
      syncer.recordFailure(error);
      expect(syncer.report()).toMatchObject({
        reachable: true,
        failure: {
          reason: 'InventoryDamaged',
          message: expect.stringMatching(
            new RegExp(
              `ConfigMap kubenode-system/inventory-web-0 .*damaged: .*${reason}.*restored or deleted`,
            ),
          ) as string,
        },
      });
      await client.replace(CONFIG_MAPS, { ...(await client.get(CONFIG_MAPS, name)), data: chunk['data'] });
      await syncer.reconcile(target, signal);
      expect(syncer.report().failure).toBeUndefined();
      await syncer.close();
    },
  );

  it('S28 acquires the Lease again when another process has written in a later term', async () => {
    const cluster = createFakeCluster();
    let epoch = 3;
    const raised: number[] = [];
    const lease = { ...HELD, epoch: () => epoch, raiseEpoch: (above: number) => raised.push(above) };
    const later = await syncerFor(cluster, { lease: { ...HELD, epoch: () => 5 } });
    const syncer = await syncerFor(cluster, { lease });
    const { signal } = new AbortController();
    const target = { mode: 'Apply', commit: COMMIT, pipeline: 'fleet', because: 'next', content } as const;
    await later.reconcile(target, signal);
    const changed = { ...target, content: async () => CHANGED };
    syncer.recordFailure(await syncer.reconcile(changed, signal).catch((error: unknown) => error));
    expect(raised).toEqual([5]);
    expect(syncer.report()).toMatchObject({ reachable: true, failure: { reason: 'LeaseSuperseded' } });
    epoch = 6;
    await syncer.reconcile(changed, signal);
    expect(syncer.report().failure).toBeUndefined();
    // It still works with what it read, and then reads what the other one has written.
    const again = {
      ...target,
      content: async () => ({ ...RENDERED, units: [unit('web', [configMap('c')])] }),
    };
    for (const reason of ['Conflict', 'LeaseSuperseded']) {
      later.recordFailure(await later.reconcile(again, signal).catch((error: unknown) => error));
      expect(later.report()).toMatchObject({ failure: { reason } });
    }
    expect(cluster.objects.has('ConfigMap default/c')).toBe(false);
    await Promise.all([syncer.close(), later.close()]);
  });

  it('carries the error of a connection that cannot be made', async () => {
    const syncer = await syncerFor(createFakeCluster(), {
      connect: async () => {
        throw new KubeError('Credentials', 'Secret kubenode-system/prod does not exist');
      },
    });
    const { signal } = new AbortController();
    syncer.recordFailure(await syncer.reconcile(undefined, signal).catch((error: unknown) => error));
    expect(syncer.report()).toMatchObject({
      reachable: false,
      failure: { reason: 'Credentials', message: 'Secret kubenode-system/prod does not exist' },
    });
    await syncer.close();
  });

  it('S6 rejects another cluster when the credentials change before the UID is pinned', async () => {
    const [one, two] = [createFakeCluster(), createFakeCluster()];
    let reached = one;
    const syncer = await syncerFor(one, { connect: async () => reached.process().client });
    const other = two.process().client;
    await other.create(NAMESPACES, namespace('another'));
    await other.create(NAMESPACES, namespace('kube-system'));
    const { signal } = new AbortController();
    await syncer.reconcile(undefined, signal);
    reached = two;
    syncer.forgetSession();
    await expect(syncer.reconcile(undefined, signal)).rejects.toThrow(IdentityMismatch);
    reached = one;
    await syncer.reconcile(undefined, signal);
    expect(syncer.report()).toMatchObject({ identity: 'Verified' });
    await syncer.close();
  });

  it('S29 decrypts just before the write, and keeps no value in the inventory, the report or the log', async () => {
    const cluster = createFakeCluster();
    const log = memoryLog();
    const secret = encryptedObject('secret.yaml');
    const target = { target: 'prod', units: [unit('web', [secret])], digest: 'sha256:now' };
    let key = readAgeKeys(POST_QUANTUM_IDENTITY);
    const keys = (): DecryptionKeys => ({ version: '', read: () => key });
    const syncer = await syncerFor(cluster, { keys, log });
    const { signal } = new AbortController();
    const assignment = {
      mode: 'Apply',
      commit: COMMIT,
      pipeline: 'fleet',
      because: 'next in line',
      content: async () => target,
    } as const;
    expect(await syncer.reconcile(assignment, signal)).toBe('later');
    expect(syncer.report().work).toMatchObject({
      state: 'Applying',
      failures: [{ object: 'Secret shop/db' }],
    });
    expect(syncer.report().work?.message).toMatch(
      /it is encrypted for age1.* and sync has the keys of age1pq1/,
    );
    expect(cluster.objects.get('Secret shop/db')).toBeUndefined();
    key = firstKeys();
    expect(await syncer.reconcile(assignment, signal)).toBe('no');
    await syncer.close();

    const { 'Secret shop/db': applied, ...others } = Object.fromEntries(cluster.objects);
    const CANARY = 'last letter, first value';
    const data = { z: Buffer.from(CANARY).toString('base64') };
    expect(applied).toMatchObject({ data, metadata: { annotations: { 'example.com/owner': 'payments' } } });
    expect(applied?.['sops']).toBeUndefined();
    const written = JSON.stringify([others, syncer.report(), log.lines]);
    expect(written).toContain('Secret shop/db');
    for (const value of [CANARY, data.z, 'YmFzZTY0']) expect(written).not.toContain(value);
  });
});

async function syncerFor(
  cluster: FakeCluster,
  options: Partial<ClusterSyncerOptions> = {},
): Promise<ClusterSyncer> {
  const { client } = cluster.process();
  const isNew = cluster.objects.size === 0;
  if (isNew) await client.create(NAMESPACES, namespace('kube-system'));
  const watched: Client = { ...client, watch: quietWatch };
  return createClusterSyncer({
    cluster: 'prod',
    hub: HUB,
    scope: '',
    connect: async () => watched,
    pinnedUID: () => undefined,
    lease: HELD,
    policy: () => ({ budget: { maxObjects: 10, maxPercent: 20 }, acknowledgements: [] }),
    clock: createSystemClock(),
    log: memoryLog(),
    random: () => 0.5,
    onChange: () => undefined,
    ...options,
  });
}

/** A watch without events until it is closed. */
function quietWatch(_: Resource, { signal }: WatchOptions): AsyncIterable<never> {
  const closed = new Promise<IteratorResult<never>>((resolve) => {
    signal?.addEventListener('abort', () => resolve({ done: true, value: undefined }), { once: true });
  });
  return { [Symbol.asyncIterator]: () => ({ next: () => closed }) };
}
