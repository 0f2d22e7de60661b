import { describe, expect, it, onTestFinished } from 'vitest';
import type { Client, WatchEvent } from '../../../../src/kube/client/client.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { objectIdOf } from '../../../../src/kube/objects/object-id.ts';
import { createLiveCache } from '../../../../src/sync/apply/live/live-cache.ts';
import type { LiveCache } from '../../../../src/sync/apply/live/ports.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../../support/virtual-clock.ts';
import { createFakeCluster } from '../fake-cluster.ts';
import { configMap, live } from '../fixtures.ts';

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' };
const SECRET = { apiVersion: 'v1', kind: 'Secret' };
const NEVER = new AbortController().signal;
const a = live(configMap('a'));
const id = objectIdOf(a);

/** As the server answers to a write: newer than every list of these tests. */
function written(name: string): KubeObject {
  const object = live(configMap(name));
  return { ...object, metadata: { ...object.metadata, resourceVersion: '1000' } };
}

interface TestCache {
  readonly cache: LiveCache;
  readonly clock: VirtualClock;
}

async function startCache(
  more: (client: Client) => Partial<Client> = () => ({}),
  onChange: () => void = () => undefined,
): Promise<TestCache> {
  const clock = virtualClock();
  const { client } = createFakeCluster().process();
  await client.create(await client.resourceFor('v1', 'ConfigMap'), a);
  const watched: Client = { ...client, watch: (_, { signal }) => quietWatch(clock, signal), ...more(client) };
  const cache = createLiveCache({
    client: watched,
    clock,
    log: memoryLog(),
    random: () => 0.5,
    onChange,
  });
  onTestFinished(() => cache.close());
  return { cache, clock };
}

/** A watch without events. */
async function* quietWatch(clock: VirtualClock, signal?: AbortSignal): AsyncGenerator<WatchEvent> {
  await clock.sleep(Number.MAX_SAFE_INTEGER, signal);
  yield* [];
}

/** Waits for kinds to be listed: a kind that cannot be listed is given up after 5 s. */
async function watch({ cache, clock }: TestCache, ...kinds: (typeof CONFIG_MAP)[]): Promise<void> {
  const watching = cache.watch(kinds, NEVER);
  for (let passedMs = 0; passedMs < 6000; passedMs += 50) await clock.advance(50);
  await watching;
}

describe('createLiveCache', () => {
  it('S3 knows nothing of a kind that is not watched', async () => {
    const { cache } = await startCache();
    expect(cache.get(id)).toBe('unknown');
  });

  it('finds the listed objects, and knows that others are absent', async () => {
    const test = await startCache();
    await watch(test, CONFIG_MAP);
    expect(test.cache.get(id)).toMatchObject({ metadata: { name: 'a' } });
    expect(test.cache.get({ ...id, name: 'b' })).toBe('absent');
    expect(test.cache.staleReason()).toBeUndefined();
  });

  it('reads a kind again when git declares it in another version, because the former one may not be served', async () => {
    const test = await startCache((client) => ({
      resourceFor: async (apiVersion, kind) => {
        if (apiVersion === 'v1beta1') throw new KubeError('NotFound', 'not served', { status: 404 });
        return client.resourceFor(apiVersion, kind);
      },
    }));
    await watch(test, { ...CONFIG_MAP, apiVersion: 'v1beta1' });
    expect(test.cache.get(id)).toBe('unknown');
    await watch(test, CONFIG_MAP);
    expect(test.cache.get(id)).toMatchObject({ metadata: { name: 'a' } });
  });

  it('sees our own writes before the watch reports them', async () => {
    const test = await startCache();
    await watch(test, CONFIG_MAP);
    test.cache.recordApplied(written('b'));
    expect(test.cache.get({ ...id, name: 'b' })).toMatchObject({ metadata: { name: 'b' } });
    test.cache.recordDeleted(id);
    expect(test.cache.get(id)).toBe('absent');
  });

  it('keeps an object that was created again before we learned that its predecessor is deleted', async () => {
    const test = await startCache();
    await watch(test, CONFIG_MAP);
    const b = written('b');
    const { uid = '' } = b.metadata;
    test.cache.recordApplied(b);
    test.cache.recordDeleted({ ...objectIdOf(b), uid: 'of-the-predecessor' });
    expect(test.cache.get(objectIdOf(b))).toMatchObject({ metadata: { uid } });
    test.cache.recordDeleted({ ...objectIdOf(b), uid });
    expect(test.cache.get(objectIdOf(b))).toBe('absent');
  });

  it('keeps our own writes without the records of field managers, which are half of an object', async () => {
    const test = await startCache();
    await watch(test, CONFIG_MAP);
    test.cache.recordApplied(written('b'));
    expect(test.cache.get({ ...id, name: 'b' })).not.toHaveProperty('metadata.managedFields');
  });

  it('keeps the records of the managers that changed an object besides sync and its status', async () => {
    const test = await startCache();
    await watch(test, CONFIG_MAP);
    const b = written('b');
    const theirs = { manager: 'kubectl-edit', operation: 'Update' as const, fieldsV1: { 'f:data': {} } };
    const status = { manager: 'controller', operation: 'Update' as const, subresource: 'status' };
    const managedFields = [...(b.metadata.managedFields ?? []), theirs, status];
    test.cache.recordApplied({ ...b, metadata: { ...b.metadata, managedFields } });
    expect(test.cache.get(objectIdOf(b))).toMatchObject({ metadata: { managedFields: [theirs] } });
  });

  it('S3 treats a kind that is not served as unknown, and asks again only after a notification', async () => {
    let served = false;
    const test = await startCache((client) => ({
      resourceFor: async (apiVersion, kind) => {
        if (kind === 'Secret' && !served) throw new KubeError('NotFound', 'not served', { status: 404 });
        return client.resourceFor(apiVersion, kind);
      },
    }));
    const secret = { ...id, kind: 'Secret' };
    await watch(test, CONFIG_MAP, SECRET);
    expect(test.cache.get(secret)).toBe('unknown');
    expect(test.cache.unknownReason(secret)).toBe('this cluster does not serve Secret of v1');
    expect([test.cache.staleReason(), test.cache.readError()]).toEqual([undefined, undefined]);
    served = true;
    await watch(test, SECRET);
    expect(test.cache.get(secret)).toBe('unknown');
    test.cache.retryUnserved();
    await watch(test, SECRET);
    expect(test.cache.get(secret)).toBe('absent');
  });

  it('S3 takes a kind that cannot be listed for unknown, and the others not', async () => {
    const test = await startCache((client) => ({
      pages: (resource, options) => {
        if (resource.kind === 'Secret') throw new KubeError('Forbidden', 'no list', { status: 403 });
        return client.pages(resource, options);
      },
    }));
    await watch(test, CONFIG_MAP, SECRET);
    expect(test.cache.get({ ...id, kind: 'Secret' })).toBe('unknown');
    expect(test.cache.readError()).toMatchObject({ code: 'Forbidden' });
    expect(test.cache.unknownReason({ ...id, kind: 'Secret' })).toContain('no list');
    expect(test.cache.staleReason()).toBeUndefined();
    expect(test.cache.get(id)).toMatchObject({ metadata: { name: 'a' } });
  });

  it('SAF-3 takes objects for unknown as soon as the server does not serve their kind any more', async () => {
    let served = true;
    const notServed = new KubeError('BadAnswer', 'not served', { status: 404 });
    const test = await startCache((client) => ({
      watch: async function* (_, { signal }) {
        await test.clock.sleep(10_000, signal);
        if (!served) throw notServed;
        yield* [];
      },
      pages: (resource, options) => {
        if (!served) throw notServed;
        return client.pages(resource, options);
      },
    }));
    await watch(test, CONFIG_MAP);
    expect(test.cache.get(id)).toMatchObject({ metadata: { name: 'a' } });
    served = false;
    await test.clock.advance(10_000);
    expect(test.cache.get(id)).toBe('unknown');
    expect(test.cache.unknownReason(id)).toBe('this cluster does not serve ConfigMap of v1');
    expect(test.cache.staleReason()).toBeUndefined();
    served = true;
    await test.clock.advance(60_000);
    expect(test.cache.get(id)).toMatchObject({ metadata: { name: 'a' } });
  });

  it('stops the watch of a kind that is not needed any more, and forgets its error', async () => {
    const lists: string[] = [];
    const test = await startCache((client) => ({
      pages: (resource, options) => {
        lists.push(resource.kind);
        if (resource.kind === 'Secret') throw new KubeError('Forbidden', 'no list', { status: 403 });
        return client.pages(resource, options);
      },
    }));
    await watch(test, CONFIG_MAP, SECRET);
    await watch(test, CONFIG_MAP);
    expect(test.cache.readError()).toBeUndefined();
    expect(test.cache.get({ ...id, kind: 'Secret' })).toBe('unknown');
    const before = lists.length;
    for (let minute = 0; minute < 60; minute += 1) await test.clock.advance(60_000);
    expect(lists.slice(before)).not.toContain('Secret');
  });

  it('goes on watching CRDs for a kind that is not served when another one is not needed any more', async () => {
    const crdWatches: (AbortSignal | undefined)[] = [];
    const test = await startCache((client) => ({
      resourceFor: async (apiVersion, kind) => {
        if (kind !== 'ConfigMap') throw new KubeError('NotFound', 'not served', { status: 404 });
        return client.resourceFor(apiVersion, kind);
      },
      watch: ({ kind }, { signal }) => {
        if (kind === 'CustomResourceDefinition') crdWatches.push(signal);
        return quietWatch(test.clock, signal);
      },
    }));
    await watch(test, CONFIG_MAP, SECRET, { apiVersion: 'example.com/v1', kind: 'Widget' });
    await watch(test, CONFIG_MAP, { apiVersion: 'example.com/v1', kind: 'Widget' });
    expect(crdWatches.map((signal) => signal?.aborted)).toEqual([false]);
  });

  it('waits only once for a kind whose server does not answer', async () => {
    const test = await startCache((client) => ({
      pages: (resource, options) => {
        if (resource.kind === 'Secret') throw new KubeError('ServerError', 'down', { status: 503 });
        return client.pages(resource, options);
      },
    }));
    await watch(test, CONFIG_MAP, SECRET);
    await test.cache.watch([CONFIG_MAP, SECRET], NEVER);
    expect(test.cache.unknownReason({ ...id, kind: 'Secret' })).toContain('down');
    expect(test.cache.staleReason()).toBeUndefined();
  });

  it('S3 takes a kind whose discovery is not answered for unknown, and delays the others only once', async () => {
    const answer = Promise.withResolvers<void>();
    let changes = 0;
    const test = await startCache(
      (client) => ({
        resourceFor: async (apiVersion, kind) => {
          if (kind === 'Secret') await answer.promise;
          return client.resourceFor(apiVersion, kind);
        },
      }),
      () => (changes += 1),
    );
    const secret = { ...id, kind: 'Secret' };
    await watch(test, CONFIG_MAP, SECRET);
    await test.cache.watch([CONFIG_MAP, SECRET], NEVER);
    expect(test.cache.get(id)).toMatchObject({ metadata: { name: 'a' } });
    expect(test.cache.get(secret)).toBe('unknown');
    expect(test.cache.unknownReason(secret)).toBe('discover Secret of v1 at memory: no answer within 5 s');
    expect(test.cache.staleReason()).toBeUndefined();

    changes = 0;
    answer.resolve();
    await test.clock.advance(0);
    expect(changes).toBe(1);
    await watch(test, CONFIG_MAP, SECRET);
    expect(test.cache.get(secret)).toBe('absent');
  });

  it.each(['Timeout', 'ServerError'] as const)(
    'S3 keeps the others readable when the discovery of a kind ends with %s',
    async (code) => {
      const test = await startCache((client) => ({
        resourceFor: async (apiVersion, kind) => {
          if (kind === 'Secret') throw new KubeError(code, 'its API does not answer');
          return client.resourceFor(apiVersion, kind);
        },
      }));
      await watch(test, CONFIG_MAP, SECRET);
      expect(test.cache.unknownReason({ ...id, kind: 'Secret' })).toBe('its API does not answer');
      expect(test.cache.staleReason()).toBeUndefined();
      expect(test.cache.get(id)).toMatchObject({ metadata: { name: 'a' } });
    },
  );

  it('rejects when the server is unreachable: then no kind can be discovered', async () => {
    const test = await startCache(() => ({
      resourceFor: async () => {
        throw new KubeError('Unreachable', 'no answer');
      },
    }));
    const watching = test.cache.watch([CONFIG_MAP], NEVER).catch((error: unknown) => error);
    await test.clock.advance(50);
    expect(await watching).toMatchObject({ code: 'Unreachable' });
  });

  it('S21 takes objects for unknown when the watch is silent for too long', async () => {
    const test = await startCache();
    await watch(test, CONFIG_MAP);
    await test.clock.advance(151_000);
    expect(test.cache.get(id)).toBe('unknown');
    expect(test.cache.staleReason()).toContain('ConfigMap');
  });
});
