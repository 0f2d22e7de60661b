import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LABEL_HUB } from '../../../src/api/names.ts';
import type { Client, ListOptions, WatchEvent } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import type { ApplyPolicy } from '../../../src/sync/apply/cluster-syncer.ts';
import { type ClusterWorker, createClusterWorker } from '../../../src/sync/apply/cluster-worker.ts';
import type { ClusterTarget } from '../../../src/sync/cluster-report.ts';
import type { RenderedTarget } from '../../../src/sync/rendered.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { LONG } from '../../support/sweep-size.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { createFakeCluster } from './fake-cluster.ts';
import { configMap, HELD, HUB, namespace, unit } from './fixtures.ts';

const OBJECTS = 20;
/** Of one step. */
const CONCURRENT = 8;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const PLAN_DIGEST = /sha256:[\da-f]{64}/;

/** A worker for one fake cluster, with faults for its calls. */
interface TestWorker {
  readonly clock: VirtualClock;
  readonly worker: ClusterWorker;
  readonly render: (commit: string) => RenderedTarget;
  policy: ApplyPolicy;
  /** Called before each call; may throw. */
  fault: (call: { readonly verb: string; readonly number: number; readonly object?: KubeObject }) => void;
  /** Called when a watch is opened, and each minute; may throw. */
  watchFault: () => void;
  /** Names of ConfigMaps that are in the cluster. */
  names(): string[];
}

describe('createClusterWorker', () => {
  it.each([SECOND, MINUTE, 120 * MINUTE])(
    'S16 resumes an apply by itself after an outage of %i ms',
    async (outageMs) => {
      for (const from of [1, 2, 5, 9, 15, 22, 26]) {
        const test = await startWorker(() => target('a', OBJECTS));
        let outageEndMs: number | undefined;
        test.fault = ({ number }) => {
          if (number >= from) outageEndMs ??= test.clock.monotonicMs() + outageMs;
          if (outageEndMs !== undefined && test.clock.monotonicMs() < outageEndMs) throw unreachable();
        };
        setTarget(test, 'a');
        await test.clock.advance(outageMs);
        await advanceInSteps(test.clock, 30 * SECOND);
        expect([from, test.names().length]).toEqual([from, OBJECTS]);
        expect(test.worker.report()).toMatchObject({ reachable: true, work: { state: 'Applied' } });
      }
    },
  );

  it('S16 probes an unreachable server a few times a minute', async () => {
    const test = await startWorker(() => target('a', OBJECTS));
    let calls = 0;
    test.fault = () => {
      calls += 1;
      throw unreachable();
    };
    setTarget(test, 'a');
    await test.clock.advance(10 * MINUTE);
    calls = 0;
    await test.clock.advance(10 * MINUTE);
    expect(calls).toBeGreaterThan(20);
    expect(calls).toBeLessThan(80);
  });

  it('S16 obeys a server that asks for an hour for a minute, and reports the next attempt and the overload', async () => {
    const test = await startWorker(() => target('a', OBJECTS));
    const attempts: number[] = [];
    test.fault = ({ verb, object }) => {
      if (verb !== 'apply' || !object?.metadata.name.startsWith('c-')) return;
      attempts.push(test.clock.monotonicMs());
      // As the client reads a Retry-After of 3600.
      throw new KubeError('TooManyRequests', 'slow down', { status: 429, retryAfterSeconds: 60 });
    };
    setTarget(test, 'a');
    await advanceInSteps(test.clock, 3 * SECOND);
    const { reachable, failure, overloadedSince } = test.worker.report();
    expect(reachable).toBe(true);
    expect(failure?.message).toContain(
      `slow down; the next attempt is at ${failure?.retryAt?.toISOString()}`,
    );
    expect(+(failure?.retryAt ?? 0) - +test.clock.now()).toBeLessThanOrEqual(66 * SECOND);

    await test.clock.advance(10 * MINUTE);
    const gaps = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(67 * SECOND);
    expect(test.worker.report().overloadedSince).toEqual(overloadedSince);
    test.fault = () => undefined;
    await advanceInSteps(test.clock, 70 * SECOND);
    expect(test.names()).toHaveLength(OBJECTS);
    const { overloadedSince: after, failure: none } = test.worker.report();
    expect([after, none]).toEqual([undefined, undefined]);
  });

  it('S16 resumes within 30 s when a kind can be listed again after 20 minutes', async () => {
    const test = await startWorker(() => target('a', OBJECTS));
    test.fault = ({ verb }) => {
      if (verb === 'list owned') throw new KubeError('ServerError', 'its API is down', { status: 503 });
    };
    setTarget(test, 'a');
    await test.clock.advance(20 * MINUTE);
    expect(test.names()).toEqual([]);
    test.fault = () => undefined;
    await advanceInSteps(test.clock, 30 * SECOND);
    expect(test.names()).toHaveLength(OBJECTS);
  });

  it.each([10, 60, 1200, 1230, 7200])(
    'S16 lists again within 17 s of the end of an outage of %d s, after which the server knows no older version',
    async (outageSeconds) => {
      const test = await startWorker(() => target('a', OBJECTS));
      setTarget(test, 'a');
      await advanceInSteps(test.clock, 3 * SECOND);
      const endMs = test.clock.monotonicMs() + MINUTE + outageSeconds * SECOND;
      let forgotten = true;
      const lists: number[] = [];
      test.fault = ({ verb }) => {
        if (test.clock.monotonicMs() < endMs) throw unreachable();
        if (verb === 'list owned') [forgotten] = [false, lists.push(test.clock.monotonicMs() - endMs)];
      };
      test.watchFault = () => {
        if (test.clock.monotonicMs() < endMs) throw unreachable();
        if (forgotten) throw new KubeError('Gone', 'too old resource version', { status: 410 });
      };
      await test.clock.advance(endMs - test.clock.monotonicMs());
      await advanceInSteps(test.clock, 60 * SECOND);
      expect(lists[0]).toBeLessThan(17 * SECOND);
      expect(test.worker.report().work).toMatchObject({ state: 'Applied' });
    },
  );

  it('S2 deletes what was held within a second of its acknowledgement', async () => {
    const test = await startWorker((commit) => target(commit, commit === 'a' ? OBJECTS : 0));
    setTarget(test, 'a');
    await advanceInSteps(test.clock, 3 * SECOND);
    setTarget(test, 'empty');
    await advanceInSteps(test.clock, 3 * SECOND);
    expect(test.worker.report().work).toMatchObject({ state: 'Held' });
    const planDigest = PLAN_DIGEST.exec(test.worker.report().work?.message ?? '')?.[0] ?? '';
    test.policy = { ...test.policy, acknowledgements: [{ unit: 'web', planDigest }] };
    setTarget(test, 'empty');
    await advanceInSteps(test.clock, SECOND);
    expect(test.names()).toEqual([]);
  });

  it('S30 begins no write in a unit after it was paused in the middle of an apply, and goes on once it is resumed', async () => {
    const test = await startWorker(() => target('a', OBJECTS));
    const applied: string[] = [];
    test.fault = ({ verb, object }) => {
      if (verb !== 'apply' || !object?.metadata.name.startsWith('c-')) return;
      applied.push(object.metadata.name);
      if (applied.length === 3) setTarget(test, 'a', { pausedUnits: new Map([['web', 'paused by anna']]) });
    };
    setTarget(test, 'a');
    await advanceInSteps(test.clock, MINUTE);
    // What was in flight ends.
    expect(applied.length).toBeLessThanOrEqual(CONCURRENT);
    expect(test.worker.report().work).toMatchObject({ state: 'Applying', reason: 'UnitPaused' });
    expect(test.worker.report().units).toEqual(['web']);
    setTarget(test, 'a');
    await advanceInSteps(test.clock, SECOND);
    expect(test.names()).toHaveLength(OBJECTS);
  });

  it('S30 does not write one object that was paused in the middle of an apply, and writes the others', async () => {
    const test = await startWorker(() => target('a', OBJECTS));
    const last = `c-a-${OBJECTS - 1}`;
    let paused = false;
    test.fault = ({ verb, object }) => {
      if (verb !== 'apply' || paused || !object?.metadata.name.startsWith('c-')) return;
      paused = true;
      setTarget(test, 'a', { pausedObjects: new Map([[`ConfigMap/default/${last}`, 'paused by anna']]) });
    };
    setTarget(test, 'a');
    await advanceInSteps(test.clock, MINUTE);
    expect(test.names()).toHaveLength(OBJECTS - 1);
    expect(test.names()).not.toContain(last);
    expect(test.worker.report().work).toMatchObject({ state: 'Applying', reason: 'ObjectPaused' });
    setTarget(test, 'a');
    await advanceInSteps(test.clock, SECOND);
    expect(test.names()).toHaveLength(OBJECTS);
  });

  it('S30 writes nothing at all while all that is left to do is in a paused unit', async () => {
    const test = await startWorker((commit) => target(commit, commit === 'a' ? OBJECTS : 0));
    const pausedUnits = new Map([['web', 'paused by anna']]);
    setTarget(test, 'a');
    await advanceInSteps(test.clock, 3 * SECOND);
    const writes: string[] = [];
    test.fault = ({ verb }) => {
      if (verb !== 'get' && !verb.startsWith('list')) writes.push(verb);
    };
    setTarget(test, 'empty', { pausedUnits });
    await test.clock.advance(20 * MINUTE);
    expect(test.worker.report().work).toMatchObject({ state: 'Applying', reason: 'UnitPaused' });
    setTarget(test, 'b', { pausedUnits });
    await test.clock.advance(20 * MINUTE);
    expect([writes, test.names().length]).toEqual([[], OBJECTS]);
  });

  it('observes the cluster again at the end of a soak', async () => {
    const test = await startWorker(() => target('a', 1));
    setTarget(test, 'a');
    await advanceInSteps(test.clock, 3 * SECOND);
    const observeAt = new Date(test.clock.now().getTime() + 5 * SECOND);
    setTarget(test, 'a', { observeAt });
    await advanceInSteps(test.clock, 6 * SECOND);
    const observedAt = test.worker.report().health?.observedAt;
    expect(observedAt?.getTime()).toBeGreaterThanOrEqual(observeAt.getTime());
  });

  it('S15 applies a fix at once, at any moment of a retry delay', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 30 * MINUTE }), async (moment) => {
        const test = await startWorker((commit) => target(commit, 1));
        const applied: string[] = [];
        test.fault = ({ verb, object }) => {
          const name = object?.metadata.name ?? '';
          if (verb !== 'apply' || !name.startsWith('c-')) return;
          applied.push(name);
          if (name.startsWith('c-bad')) throw new KubeError('ServerError', 'webhook down', { status: 500 });
        };
        setTarget(test, 'bad');
        await test.clock.advance(moment);
        expect(applied).not.toContain('c-fix-0');
        setTarget(test, 'fix');
        await advanceInSteps(test.clock, 2 * SECOND);
        expect(applied).toContain('c-fix-0');
        await test.worker.close();
      }),
      { numRuns: LONG ? 1000 : 60 },
    );
  });

  it.each<[field: string, more: Partial<ClusterTarget>, reconciles: number]>([
    ['nothing', {}, 0],
    ['its explanation', { because: 'another reason' }, 0],
    ['that its content was proven before', { provenBefore: true }, 1],
    ['that a person rolled it back', { isRollback: true }, 1],
  ])('S13 reconciles at once when the target changes in %s', async (_, more, reconciles) => {
    const test = await startWorker(() => target('a', 1));
    setTarget(test, 'a');
    await advanceInSteps(test.clock, 5 * SECOND);
    let asked = 0;
    const content = async (commit: string): Promise<RenderedTarget> => {
      asked += 1;
      return test.render(commit);
    };
    setTarget(test, 'a', { ...more, content } as Partial<ClusterTarget>);
    await advanceInSteps(test.clock, SECOND);
    expect(Math.min(asked, 1)).toBe(reconciles);
    await test.worker.close();
  });
});

function unreachable(): KubeError {
  return new KubeError('Unreachable', 'no answer');
}

function setTarget({ worker, render }: TestWorker, commit: string, more: Partial<ClusterTarget> = {}): void {
  const content = async (): Promise<RenderedTarget> => render(commit);
  worker.setTarget({ mode: 'Apply', commit, pipeline: 'fleet', because: 'next in line', content, ...more });
}

function target(commit: string, objects: number): RenderedTarget {
  const maps = Array.from({ length: objects }, (_, index) => configMap(`c-${commit}-${index}`));
  return { target: 'test', units: [unit('web', maps)], digest: `sha256:${commit}` };
}

/** In steps: some work needs several turns of the event loop. */
async function advanceInSteps(clock: VirtualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) await clock.advance(100);
}

async function startWorker(render: (commit: string) => RenderedTarget): Promise<TestWorker> {
  const cluster = createFakeCluster();
  const { client } = cluster.process();
  await client.create(NAMESPACES, namespace('kube-system'));
  const clock = virtualClock();
  let number = 0;
  const test: TestWorker = {
    clock,
    render,
    policy: { budget: { maxObjects: 100, maxPercent: 100 }, acknowledgements: [] },
    fault: () => undefined,
    watchFault: () => undefined,
    names: () =>
      [...cluster.objects.values()]
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith('c-')),
    worker: createClusterWorker({
      cluster: 'test',
      hub: HUB,
      scope: '',
      connect: async () =>
        faulty(client, clock, {
          before: (verb, object) => test.fault({ verb, number: (number += 1), ...object }),
          watched: () => test.watchFault(),
        }),
      pinnedUID: () => undefined,
      lease: HELD,
      policy: () => test.policy,
      clock,
      log: memoryLog(),
      random: () => 0.5,
      onReport: () => undefined,
    }),
  };
  onTestFinished(() => test.worker.close());
  return test;
}

interface Faults {
  readonly before: (verb: string, about?: { object: KubeObject }) => void;
  readonly watched: () => void;
}

function faulty(client: Client, clock: VirtualClock, { before, watched }: Faults): Client {
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
      before(options?.labelSelector === LABEL_HUB ? 'list owned' : 'list');
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
    watch: (_, { signal }) => quietWatch(clock, watched, signal),
  };
}

/** A watch without events, with a bookmark each minute as API servers send them. */
async function* quietWatch(
  clock: VirtualClock,
  watched: () => void,
  signal?: AbortSignal,
): AsyncGenerator<WatchEvent> {
  for (;;) {
    watched();
    await clock.sleep(MINUTE, signal);
    watched();
    const metadata = { name: '', resourceVersion: '1' };
    yield { type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata } };
  }
}
