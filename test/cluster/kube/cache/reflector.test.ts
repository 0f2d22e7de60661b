/**
 * The reflector against a real API server through the fault proxy: with any fault of a list or a watch, the store loses
 * no existing object, and equals the server soon after the faults stop.
 */
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createReflector, type Reflector } from '../../../../src/kube/cache/reflector.ts';
import { createStore, type WritableStore } from '../../../../src/kube/cache/store.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { Clock } from '../../../../src/os/clock.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import type { Fault } from '../../../support/fault-proxy/proxied-request.ts';
import type { RuleHandle } from '../../../support/fault-proxy/rules.ts';
import { watchError } from '../../../support/fault-proxy/watch-faults.ts';
import { type FaultProxy, faultProxy } from '../../../support/fault-proxy.ts';
import { type MemoryLog, memoryLog } from '../../../support/memory-log.ts';
import { LONG, SEED } from '../../../support/sweep-size.ts';
import { EVERY_LIST_FAULT, EVERY_WATCH_FAULT } from '../client/every-fault.ts';

const HERE = { namespace: 'default' };
const ME = { fieldManager: 'me' };

let server: ApiServer;
let proxy: FaultProxy;
/** Reads through the proxy; `server.client` bypasses it. */
let client: Client;

beforeAll(async () => {
  server = await startApiServer();
  proxy = await faultProxy(server);
  client = await connect({ kubeconfig: proxy.kubeconfig, transport: { timeoutMs: 2000 } });
});
beforeEach(async () => {
  await server.wipe();
});
afterEach(() => {
  proxy.reset();
});
afterAll(async () => {
  await client.close();
  await proxy.close();
  await server.stop();
});

interface Bed {
  readonly maps: WritableStore;
  readonly reflector: Reflector;
  /** Objects that left the store although they exist. */
  readonly lost: string[];
  readonly uids: Set<string>;
  readonly log: MemoryLog;
  readonly end: () => Promise<void>;
}

/** Makes minutes pass within a test. */
function fastClock(factor = 300): Clock {
  const real = createSystemClock();
  return {
    now: () => real.now(),
    monotonicMs: () => real.monotonicMs() * factor,
    sleep: (ms, signal) => real.sleep(ms / factor, signal),
  };
}

function follow(clock: Clock = fastClock()): Bed {
  const log = memoryLog();
  const maps = createStore({ log });
  const uids = new Set<string>();
  const lost: string[] = [];
  maps.subscribe({
    removed: ({ metadata }) => {
      if (uids.has(metadata.uid ?? '')) lost.push(metadata.name);
    },
  });
  const options = { client, resource: CONFIG_MAPS, store: maps, clock, log, ...HERE };
  const running = createReflector({ ...options, random: () => 0.5 });
  const stop = new AbortController();
  const done = running.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await done;
  };
  onTestFinished(end);
  return { maps, reflector: running, lost, uids, log, end };
}

async function put(bed: Bed, name: string, value = '1'): Promise<void> {
  const { metadata } = await server.client.apply(CONFIG_MAPS, configMap(name, value), ME);
  bed.uids.add(metadata.uid ?? '');
}

function configMap(name: string, value = '1'): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...HERE }, data: { value } };
}

async function remove(bed: Bed, name: string): Promise<void> {
  const { metadata } = await server.client.get(CONFIG_MAPS, { name, ...HERE });
  bed.uids.delete(metadata.uid ?? '');
  await server.client.delete(CONFIG_MAPS, { name, ...HERE }, { uid: metadata.uid ?? '' });
}

async function converged({ maps }: Bed): Promise<void> {
  await vi.waitFor(
    async () => {
      const { items } = await server.client.list(CONFIG_MAPS, HERE);
      expect(contents(maps.list())).toEqual(contents(items));
    },
    { interval: 50, timeout: 600_000 },
  );
}

function contents(objects: readonly KubeObject[]): string[] {
  return objects
    .map(({ metadata: { name, uid, resourceVersion } }) => `${name} ${uid} ${resourceVersion}`)
    .toSorted();
}

describe('the store', () => {
  it('follows the server', async () => {
    const bed = follow();
    await put(bed, 'a');
    await put(bed, 'b');
    await put(bed, 'a', '2');
    await remove(bed, 'b');
    await converged(bed);
    expect(bed.maps.get('default/a')).toMatchObject({ data: { value: '2' } });
    expect(bed.maps.get('default/a')?.metadata).not.toHaveProperty('managedFields');
  });

  it.each(EVERY_LIST_FAULT)('survives on its first list: %s', async (name, fault) => {
    const isOld = name === 'an old list';
    const list = breakLists(name, { nth: isOld ? 2 : 1, fault: fault() });
    // An old list needs an earlier list.
    if (isOld) await client.list(CONFIG_MAPS, HERE);
    const bed = follow();
    await put(bed, 'a');
    await put(bed, 'b');
    await bed.reflector.synced(AbortSignal.timeout(30_000));
    await converged(bed);
    expect(bed.lost).toEqual([]);
    expect(list.fired).toBeGreaterThan(0);
  });

  it.each(EVERY_LIST_FAULT)('survives on a list after a lost watch: %s', async (name, fault) => {
    proxy.on({ verb: 'watch', resource: 'configmaps', nth: 1, fault: watchError(410, 1) });
    const list = breakLists(name, { nth: 2, fault: fault() });
    // Two empty lists would be accepted.
    await server.client.apply(CONFIG_MAPS, configMap('first'), ME);
    const bed = follow();
    await bed.reflector.synced(AbortSignal.timeout(30_000));
    // The watch ends after this one, so that the others come only by the lists: an old one lacks them all.
    await put(bed, 'a');
    await put(bed, 'b');
    await put(bed, 'c');
    await remove(bed, 'a');
    await put(bed, 'b', '2');
    await converged(bed);
    expect(bed.lost).toEqual([]);
    expect(list.fired).toBeGreaterThan(0);
  });

  it.each(EVERY_WATCH_FAULT)('survives on a watch: %s', async (_, fault) => {
    proxy.on({ verb: 'watch', resource: 'configmaps', nth: 1, times: 2, fault: fault() });
    const bed = follow();
    for (const name of ['a', 'b', 'c']) await put(bed, name);
    await remove(bed, 'a');
    await put(bed, 'b', '2');
    await converged(bed);
    expect(bed.lost).toEqual([]);
  });

  it('survives a restart of the API server without an unnecessary list', async () => {
    const bed = follow();
    await put(bed, 'a');
    await converged(bed);
    const before = countOfLists();
    await server.kill('SIGKILL');
    await server.start();
    await put(bed, 'b');
    await converged(bed);
    expect(bed.lost).toEqual([]);
    // The server answers 410 when its history no longer has our version; it does when others wrote meanwhile.
    const asked = bed.log.lines.filter(({ fields }) => fields['code'] === 'Gone').length;
    expect(countOfLists()).toBe(before + asked);
  });

  it('loses nothing and converges under random changes and faults', async () => {
    await fc.assert(
      fc.asyncProperty(anyTrouble, async ({ lists, watches, changes }) => {
        await server.wipe();
        proxy.reset();
        for (const [index, fault] of lists.entries()) breakNth('list', index + 1, fault);
        for (const [index, fault] of watches.entries()) breakNth('watch', index + 1, fault);
        const bed = follow();
        try {
          for (const change of changes) await make(bed, change);
          proxy.reset();
          await converged(bed);
          expect(bed.lost).toEqual([]);
        } finally {
          await bed.end(); // its watches would get the faults of the next run
        }
      }),
      { numRuns: LONG ? 100 : 20, seed: SEED },
    );
  }, 1_200_000);
});

function countOfLists(): number {
  return proxy.log.filter(({ verb }) => verb === 'list').length;
}

/** Two lists in a row. An empty one is read twice: two empty answers are accepted. */
function breakLists(
  name: string,
  { nth, fault }: { readonly nth: number; readonly fault: Fault },
): RuleHandle {
  const times = name === 'an empty list' ? 1 : 2;
  return proxy.on({ verb: 'list', resource: 'configmaps', nth, times, fault });
}

function breakNth(verb: 'list' | 'watch', nth: number, fault: () => Fault): void {
  proxy.on({ verb, resource: 'configmaps', nth, fault: fault() });
}

interface Change {
  readonly change: 'put' | 'remove';
  readonly name: string;
  /** Pause before it, so that changes occur at any time of a list, a wait or a watch. */
  readonly pauseMs: number;
}

/** An old list needs an earlier list, and an empty one is accepted when the store is empty. */
const anyListFault = fc.constantFrom(
  ...EVERY_LIST_FAULT.flatMap(([name, fault]) => (/old list|empty list/.test(name) ? [] : fault)),
);
const anyTrouble = fc.record({
  lists: fc.array(anyListFault, { maxLength: 4 }),
  watches: fc.array(fc.constantFrom(...EVERY_WATCH_FAULT.map(([, fault]) => fault)), {
    minLength: 2,
    maxLength: 8,
  }),
  changes: fc.array(
    fc.record({
      change: fc.constantFrom<Change['change']>('put', 'put', 'remove'),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      pauseMs: fc.constantFrom(0, 0, 5, 50),
    }),
    { minLength: 10, maxLength: 40 },
  ),
});

async function make(bed: Bed, { change, name, pauseMs }: Change): Promise<void> {
  await pause(pauseMs);
  if (change === 'put') await put(bed, name, String(pauseMs + bed.maps.size));
  else await remove(bed, name).catch(() => {}); // it is not there
}
