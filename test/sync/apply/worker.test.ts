import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LABEL_HUB } from '../../../src/api/names.ts';
import type { Client, ListOptions, WatchEvent } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { type ClusterWorker, createClusterWorker } from '../../../src/sync/apply/worker.ts';
import type { RenderedTarget } from '../../../src/sync/rendered.ts';
import { LONG } from '../../support/long.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { memoryCluster } from './memory-cluster.ts';
import { configMap, HUB, namespace, unit } from './world.ts';

const OBJECTS = 20;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** One cluster, its worker, and what befalls the calls to it. */
interface Bed {
  readonly clock: VirtualClock;
  readonly worker: ClusterWorker;
  /** Decides about each call; may throw. */
  fault: (call: { readonly verb: string; readonly number: number; readonly object?: KubeObject }) => void;
  /** Names of ConfigMaps that are in the cluster. */
  names(): string[];
}

describe('a worker', () => {
  it.each([SECOND, MINUTE, 120 * MINUTE])(
    'S16 resumes an apply by itself after the server was away for %i ms',
    async (away) => {
      for (const from of [1, 2, 5, 9, 15, 22, 26]) {
        const bed = await bedWith(() => target('a', OBJECTS));
        let awayUntil: number | undefined;
        bed.fault = ({ number }) => {
          if (number >= from) awayUntil ??= bed.clock.monotonicMs() + away;
          if (awayUntil !== undefined && bed.clock.monotonicMs() < awayUntil) throw gone();
        };
        aim(bed, 'a');
        await bed.clock.advance(away);
        await passing(bed.clock, 30 * SECOND);
        expect([from, bed.names().length]).toEqual([from, OBJECTS]);
        expect(bed.worker.report()).toMatchObject({ reachable: true, work: { state: 'Applied' } });
      }
    },
  );

  it('S16 asks a server that is away a few times a minute, and no more', async () => {
    const bed = await bedWith(() => target('a', OBJECTS));
    let calls = 0;
    bed.fault = () => {
      calls += 1;
      throw gone();
    };
    aim(bed, 'a');
    await bed.clock.advance(10 * MINUTE);
    calls = 0;
    await bed.clock.advance(10 * MINUTE);
    expect(calls).toBeGreaterThan(20);
    expect(calls).toBeLessThan(80);
  });

  it('S16 goes on as soon as a kind can be listed again that could not for long', async () => {
    const bed = await bedWith(() => target('a', OBJECTS));
    bed.fault = ({ verb }) => {
      if (verb === 'list marked') throw new KubeError('ServerError', 'its API is away', { status: 503 });
    };
    aim(bed, 'a');
    await bed.clock.advance(20 * MINUTE);
    expect(bed.names()).toEqual([]);
    bed.fault = () => undefined;
    await passing(bed.clock, 30 * SECOND);
    expect(bed.names()).toHaveLength(OBJECTS);
  });

  it('looks again at the very end of a soak', async () => {
    const bed = await bedWith(() => target('a', 1));
    aim(bed, 'a');
    await passing(bed.clock, 3 * SECOND);
    const observeAt = new Date(bed.clock.now().getTime() + 5 * SECOND);
    bed.worker.setTarget({ mode: 'Apply', commit: 'a', pipeline: 'fleet', because: 'soaks', observeAt });
    await passing(bed.clock, 6 * SECOND);
    const seenAt = bed.worker.report().health?.observedAt;
    expect(seenAt?.getTime()).toBeGreaterThanOrEqual(observeAt.getTime());
  });

  it('S15 begins with a fix at once, at whatever moment of a failing wait it comes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 30 * MINUTE }), async (moment) => {
        const bed = await bedWith((commit) => target(commit, 1));
        const applied: string[] = [];
        bed.fault = ({ verb, object }) => {
          const name = object?.metadata.name ?? '';
          if (verb !== 'apply' || !name.startsWith('c-')) return;
          applied.push(name);
          if (name.startsWith('c-bad')) throw new KubeError('ServerError', 'webhook away', { status: 500 });
        };
        aim(bed, 'bad');
        await bed.clock.advance(moment);
        expect(applied).not.toContain('c-fix-0');
        aim(bed, 'fix');
        await passing(bed.clock, 2 * SECOND);
        expect(applied).toContain('c-fix-0');
        await bed.worker.close();
      }),
      { numRuns: LONG ? 1000 : 60 },
    );
  });
});

function gone(): KubeError {
  return new KubeError('Unreachable', 'no answer');
}

function aim({ worker }: Bed, commit: string): void {
  worker.setTarget({ mode: 'Apply', commit, pipeline: 'fleet', because: 'its turn' });
}

function target(commit: string, objects: number): RenderedTarget {
  const maps = Array.from({ length: objects }, (_, index) => configMap(`c-${commit}-${index}`));
  return { target: 'test', units: [unit('web', maps)], digest: `sha256:${commit}` };
}

/** In steps, so that what needs several turns of the event loop gets them. */
async function passing(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) await clock.advance(100);
}

async function bedWith(content: (commit: string) => RenderedTarget): Promise<Bed> {
  const cluster = memoryCluster();
  const { client } = cluster.process();
  await client.create(NAMESPACES, namespace('kube-system'));
  const clock = virtualClock();
  let number = 0;
  const bed: Bed = {
    clock,
    fault: () => undefined,
    names: () =>
      [...cluster.objects.values()]
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith('c-')),
    worker: createClusterWorker({
      cluster: 'test',
      hub: HUB,
      scope: '',
      connect: async () =>
        faulty(client, clock, (verb, object) => bed.fault({ verb, number: (number += 1), ...object })),
      pinnedUID: () => undefined,
      writeBlockedReason: () => undefined,
      content: async ({ commit }) => content(commit ?? ''),
      policy: () => ({ budget: { maxObjects: 100, maxPercent: 100 }, acknowledgements: [] }),
      clock,
      log: memoryLog(),
      random: () => 0.5,
      onReport: () => undefined,
    }),
  };
  onTestFinished(() => bed.worker.close());
  return bed;
}

function faulty(
  client: Client,
  clock: VirtualClock,
  before: (verb: string, about?: { object: KubeObject }) => void,
): Client {
  return {
    ...client,
    get: async (resource, name, options) => {
      before('get');
      return client.get(resource, name, options);
    },
    list: async (resource, options) => {
      before('list');
      return client.list(resource, options);
    },
    pages: async function* pages<T>(resource: Resource, options?: ListOptions) {
      before(options?.labelSelector === LABEL_HUB ? 'list marked' : 'list');
      yield* client.pages<T>(resource, options);
    },
    apply: async (resource, object, options) => {
      before('apply', { object });
      return client.apply(resource, object, options);
    },
    create: async (resource, object, options) => {
      before('create');
      return client.create(resource, object, options);
    },
    replace: async (resource, object, options) => {
      before('replace');
      return client.replace(resource, object, options);
    },
    watch: (_, { signal }) => calm(clock, signal),
  };
}

/** A watch in which nothing happens, and which says so once a minute, as API servers do. */
async function* calm(clock: VirtualClock, signal?: AbortSignal): AsyncGenerator<WatchEvent> {
  for (;;) {
    await clock.sleep(MINUTE, signal);
    const metadata = { name: '', resourceVersion: '1' };
    yield { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } };
  }
}
