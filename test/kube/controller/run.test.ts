import { describe, expect, it, onTestFinished } from 'vitest';
import type { Freshness } from '../../../src/kube/cache/reflector.ts';
import { createStore, type WritableStore } from '../../../src/kube/cache/store.ts';
import type { View } from '../../../src/kube/cache/view.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import {
  type Controller,
  type KeysOf,
  type KindRead,
  type ReconcileResult,
  read,
} from '../../../src/kube/controller/controller.ts';
import type { ReconcileContext } from '../../../src/kube/controller/reconcile-context.ts';
import { type RunOptions, runControllers } from '../../../src/kube/controller/run.ts';
import { createLeaseElection, type LeaseElection } from '../../../src/kube/leader/election.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { type LeaseOptions } from '../../../src/kube/leader/settings.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { createObjectServer } from '../../support/kube/object-server.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { NOW, settle, type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

/** A view whose content the test sets. */
interface ManualView extends View {
  readonly store: WritableStore;
  sync(...objects: KubeObject[]): void;
  freshness: Freshness;
  stopped: boolean;
}

function resourceOf(kind: string): Resource {
  return { group: '', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
}

function reading(kind: string, keys?: KeysOf): KindRead {
  return read(resourceOf(kind), keys ? { keys } : {});
}

function manualView(kind: string): ManualView {
  const objects = createStore({ log: memoryLog() });
  const first = Promise.withResolvers<void>();
  const view: ManualView = {
    resource: resourceOf(kind),
    store: objects,
    wrote: (answer) => answer,
    deleted: () => undefined,
    stopped: false,
    freshness: { synced: false, lastContactAt: undefined, ageMs: Infinity, error: undefined },
    sync: (...list) => {
      objects.replace(list);
      view.freshness = { synced: true, lastContactAt: NOW, ageMs: 0, error: undefined };
      first.resolve();
    },
    reflector: {
      freshness: () => view.freshness,
      retryNow: () => undefined,
      synced: (signal) =>
        new Promise((resolve, reject) => {
          void first.promise.then(resolve);
          if (signal?.aborted) reject(signal.reason);
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
      run: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            view.stopped = true;
            resolve();
          });
        }),
    },
  };
  return view;
}

function object(kind: string, name: string, version = 1, labels: Record<string, string> = {}): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name, uid: name, resourceVersion: String(version), labels } };
}

function byLabel(node: KubeObject): string[] {
  return (node.metadata.labels?.['machine'] ?? '').split(' ').filter(Boolean);
}

interface Bed {
  readonly clock: VirtualClock;
  readonly log: MemoryLog;
  readonly views: { readonly Machine: ManualView; readonly Node: ManualView };
  readonly stop: AbortController;
  /** The keys, in the order in which their reconciles began. */
  readonly reconciled: string[];
  readonly run: (change?: Partial<Controller>, options?: Partial<RunOptions>) => Promise<void>;
}

function bed(): Bed {
  const clock = virtualClock();
  const log = memoryLog();
  const views = { Machine: manualView('Machine'), Node: manualView('Node') };
  const stop = new AbortController();
  const reconciled: string[] = [];
  const run: Bed['run'] = (change, options) => {
    const controller: Controller = {
      name: 'test',
      reads: [reading('Machine')],
      writes: ['Machine.status.test'],
      fieldManager: 'test',
      ...change,
      reconcile: (key, context) => {
        reconciled.push(key);
        return change?.reconcile?.(key, context) ?? Promise.resolve({});
      },
    };
    const declared = Object.fromEntries(
      Object.entries(views).filter(([kind]) =>
        controller.reads.some(({ resource }) => resource.kind === kind),
      ),
    );
    const client = { close: () => Promise.resolve() } as unknown as Client;
    const all: RunOptions = {
      controllers: [controller],
      views: declared,
      connect: () => Promise.resolve(client),
      reporter: { domain: 'test', instance: 'one' },
      clock,
      random: () => 0,
      log,
      ...options,
    };
    const running = runControllers(all, stop.signal);
    onTestFinished(async () => {
      stop.abort();
      const ended = running.catch(() => undefined);
      await clock.advance(60_000);
      await ended;
    });
    return running;
  };
  return { clock, log, views, stop, reconciled, run };
}

describe('runControllers', () => {
  it('reconciles every object once the initial lists are complete, and not before', async () => {
    const { views, reconciled, run } = bed();
    void run({ reads: [reading('Machine'), reading('Node', () => [])] });
    views.Machine.sync(object('Machine', 'a'), object('Machine', 'b'));
    await settle();
    expect(reconciled).toEqual([]);
    views.Node.sync();
    await settle();
    expect(reconciled).toEqual(['a', 'b']);
  });

  it('reconciles the keys that a change concerns, before and after it', async () => {
    const { views, reconciled, run } = bed();
    void run({ reads: [reading('Machine'), reading('Node', byLabel)] });
    views.Machine.sync(object('Machine', 'a'));
    views.Node.sync(object('Node', 'n', 1, { machine: 'x' }));
    await settle();
    reconciled.length = 0;
    views.Node.store.put(object('Node', 'n', 2, { machine: 'y' }));
    await settle();
    expect(reconciled.splice(0)).toEqual(['y', 'x']);
    views.Node.store.remove(object('Node', 'n', 3));
    views.Machine.store.remove(object('Machine', 'a', 3));
    await settle();
    expect(reconciled).toEqual(['y', 'a']);
  });

  it('requeues at the moment that a result names, not at once when it is past', async () => {
    const { clock, views, reconciled, run } = bed();
    const moments: (Date | undefined)[] = [new Date(NOW.getTime() + 60_000), new Date(0), undefined];
    void run({ reconcile: () => Promise.resolve(resultOf(moments.shift())) });
    views.Machine.sync(object('Machine', 'a'));
    await clock.advance(59_999);
    expect(reconciled).toHaveLength(1);
    await clock.advance(1);
    expect(reconciled).toHaveLength(2);
    await clock.advance(999);
    expect(reconciled).toHaveLength(2);
    await clock.advance(1);
    expect(reconciled).toHaveLength(3);
    await clock.advance(3_600_000);
    expect(reconciled).toHaveLength(3);
  });

  it('backs off after failures, logs each, and starts with a short wait again after a success', async () => {
    const { clock, log, views, reconciled, run } = bed();
    let broken = true;
    void run({
      reconcile: () => {
        if (broken) throw new Error('not even a promise');
        return Promise.resolve({});
      },
    });
    views.Machine.sync(object('Machine', 'a'));
    await clock.advance(5 + 10 + 20);
    expect(reconciled).toHaveLength(4);
    broken = false;
    await clock.advance(40);
    expect(reconciled).toHaveLength(5);
    broken = true;
    views.Machine.store.put(object('Machine', 'a', 2));
    await settle();
    expect(
      log.lines.filter(({ message }) => message === 'reconcile failed').map(({ fields }) => fields),
    ).toMatchObject([
      { controller: 'test', key: 'a', failures: 1, retryMs: 5 },
      { failures: 2, retryMs: 10 },
      { failures: 3, retryMs: 20 },
      { failures: 4, retryMs: 40 },
      { failures: 1, retryMs: 5 },
    ]);
  });

  it('repeats a reconcile whose view was late without a failure in the log, and tells when that does not end', async () => {
    const { clock, log, views, reconciled, run } = bed();
    const metrics = createMetrics();
    let late = 3;
    const reconcile: Controller['reconcile'] = async () => {
      late -= 1;
      if (late >= 0) throw new KubeError('Conflict', 'changed since it was read');
      return {};
    };
    void run({ reconcile }, { metrics });
    views.Machine.sync(object('Machine', 'a'));
    await clock.advance(5 + 10 + 20);
    expect(reconciled).toHaveLength(4);
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    expect(await metrics.text()).toContain('reconcile_seconds_count{controller="test",outcome="repeated"} 3');
    late = Infinity;
    views.Machine.store.put(object('Machine', 'a', 2));
    await clock.advance(5 * 2 ** 8);
    const failed = log.lines.filter(({ message }) => message === 'reconcile failed');
    expect(failed.map(({ fields }) => fields['failures'])).toEqual([9]);
  });

  it('treats an invalid requeueAt as a failure', async () => {
    const { clock, log, views, run } = bed();
    let first = true;
    void run({
      reconcile: () => {
        const requeueAt = first ? new Date('never') : undefined;
        first = false;
        return Promise.resolve(resultOf(requeueAt));
      },
    });
    views.Machine.sync(object('Machine', 'a'));
    await clock.advance(10);
    expect(log.lines.map(({ message }) => message)).toContain('reconcile failed');
  });

  it('runs at most `concurrency` keys at once, and never one twice', async () => {
    const { clock, views, run } = bed();
    const now = new Set<string>();
    let most = 0;
    void run({
      concurrency: 3,
      reconcile: async (key) => {
        expect(now.has(key)).toBe(false);
        now.add(key);
        most = Math.max(most, now.size);
        await clock.sleep(100);
        now.delete(key);
        return {};
      },
    });
    views.Machine.sync(...'abcdefg'.split('').map((name) => object('Machine', name)));
    for (let version = 2; version < 20; version += 1) {
      views.Machine.store.put(object('Machine', 'a', version));
      await clock.advance(30);
    }
    expect(most).toBe(3);
  });

  describe('with a stale view', () => {
    it('begins no reconcile, logs why once, and resumes when the view is fresh', async () => {
      const { clock, log, views, reconciled, run } = bed();
      void run({}, { maxViewAgeMs: 300_000 });
      views.Machine.sync(object('Machine', 'a'));
      await settle();
      reconciled.length = 0;
      views.Machine.freshness = { ...views.Machine.freshness, ageMs: 300_001 };
      views.Machine.store.put(object('Machine', 'a', 2));
      views.Machine.store.put(object('Machine', 'b', 3));
      await clock.advance(60_000);
      expect(reconciled).toEqual([]);
      views.Machine.freshness = { ...views.Machine.freshness, ageMs: 300_000 };
      await clock.advance(2000);
      expect(reconciled.toSorted()).toEqual(['a', 'b']);
      expect(log.lines.map(({ message, fields }) => [message, fields['because']])).toEqual([
        ['reconciles paused', 'Machine: no contact with the API server for 300 s'],
        ['reconciles resumed', 'Machine: no contact with the API server for 300 s'],
      ]);
    });
  });

  describe('with a reconcile that exceeds its time limit', () => {
    it('aborts it, lets others run, and never begins a second one of its key', async () => {
      const { clock, views, reconciled, run } = bed();
      const ends = Promise.withResolvers<ReconcileResult>();
      const metrics = createMetrics();
      let last: ReconcileContext | undefined;
      void run(
        {
          concurrency: 1,
          reconcile: (key, context) => {
            if (key !== 'hangs') return Promise.resolve({});
            last = context;
            return ends.promise;
          },
        },
        { reconcileTimeoutMs: 1000, metrics },
      );
      views.Machine.sync(object('Machine', 'hangs'), object('Machine', 'b'));
      await clock.advance(999);
      expect({ reconciled, aborted: last?.signal.aborted }).toEqual({
        reconciled: ['hangs'],
        aborted: false,
      });
      await clock.advance(1);
      await settle();
      expect({ reconciled, aborted: last?.signal.aborted }).toEqual({
        reconciled: ['hangs', 'b'],
        aborted: true,
      });
      views.Machine.store.put(object('Machine', 'hangs', 2));
      await clock.advance(10_000);
      expect(reconciled).toEqual(['hangs', 'b']);
      ends.resolve({});
      await settle();
      expect(reconciled).toEqual(['hangs', 'b', 'hangs']);
      const text = await metrics.text();
      expect(text).toContain('kubenode_reconcile_seconds_count{controller="test",outcome="timeout"} 1');
      expect(text).toContain('kubenode_reconcile_seconds_count{controller="test",outcome="done"} 2');
    });
  });

  describe('when it is stopped', () => {
    it('lets reconciles under way finish, begins no other, and stops the views last', async () => {
      const { clock, views, reconciled, stop, run } = bed();
      const journal: string[] = [];
      const running = run({
        concurrency: 1,
        reconcile: async (key) => {
          await clock.sleep(3000);
          journal.push(`${key} ended, views ${views.Machine.stopped ? 'stopped' : 'up'}`);
          return {};
        },
      });
      views.Machine.sync(object('Machine', 'a'), object('Machine', 'b'));
      await clock.advance(1000);
      stop.abort(new Error('SIGTERM'));
      await clock.advance(5000);
      await running;
      expect({ reconciled, journal }).toEqual({ reconciled: ['a'], journal: ['a ended, views up'] });
      expect(views.Machine.stopped).toBe(true);
      expect(clock.sleepers).toBe(0);
    });

    it('aborts a reconcile that does not end, and returns', async () => {
      const { clock, log, views, stop, run } = bed();
      let last: ReconcileContext | undefined;
      const running = run({
        reconcile: (_, context) => {
          last = context;
          return new Promise(() => {});
        },
      });
      views.Machine.sync(object('Machine', 'a'));
      await clock.advance(1000);
      stop.abort(new Error('SIGTERM'));
      await clock.advance(30_000);
      await running;
      expect(last?.signal.aborted).toBe(true);
      expect(log.lines.at(-1)).toMatchObject({
        message: 'shutdown step timed out',
        fields: { step: 'controllers' },
      });
    });

    it('handles no change any more', async () => {
      const { views, stop, run } = bed();
      let looked = 0;
      const running = run({
        reads: [
          reading('Machine', () => {
            looked += 1;
            return [];
          }),
        ],
      });
      views.Machine.sync(object('Machine', 'a'));
      await settle();
      stop.abort();
      await running;
      views.Machine.store.put(object('Machine', 'a', 2));
      expect(looked).toBe(1);
    });

    it('stops also before the initial list is complete', async () => {
      const { stop, views, run } = bed();
      const running = run();
      stop.abort(new Error('SIGTERM'));
      await running;
      expect(views.Machine.stopped).toBe(true);
    });

    it('logs no failure of reconciles that it cut off', async () => {
      const { clock, log, views, stop, run } = bed();
      const running = run({
        reconcile: async () => {
          await clock.sleep(1000);
          throw new Error('cut off');
        },
      });
      views.Machine.sync(object('Machine', 'a'));
      await clock.advance(500);
      stop.abort();
      await clock.advance(1000);
      await running;
      expect(log.lines).toEqual([]);
    });
  });

  describe('with an election', () => {
    const NAME = { namespace: 'system', name: 'controllers' };
    const electionFor = (
      clock: VirtualClock,
      client: LeaseOptions['client'],
      identity: string,
    ): LeaseElection =>
      createLeaseElection({ client, name: NAME, identity, clock, random: () => 0, log: memoryLog() });

    it('reconciles only while it holds the lease, with the epoch of its term', async () => {
      const { clock, views, reconciled, run } = bed();
      const server = createObjectServer();
      const rival = await electionFor(clock, server, 'rival').campaign(new AbortController().signal);
      const epochs: (number | undefined)[] = [];
      void run(
        {
          reconcile: (_, context) => {
            epochs.push(context.epoch);
            return Promise.resolve({});
          },
        },
        { lease: electionFor(clock, server, 'we') },
      );
      views.Machine.sync(object('Machine', 'a'));
      await clock.advance(30_000);
      expect(reconciled).toEqual([]);
      await rival.release();
      await clock.advance(3000);
      expect({ reconciled, epochs }).toEqual({ reconciled: ['a'], epochs: [2] });
    });

    it('rejects with LeaseLost when the lease is lost, and aborts its reconciles at once', async () => {
      const { clock, views, run } = bed();
      const server = createObjectServer();
      let last: ReconcileContext | undefined;
      const running = run(
        {
          reconcile: (_, context) => {
            last = context;
            return new Promise((_resolve, reject) => {
              context.signal.addEventListener('abort', () => reject(context.signal.reason));
            });
          },
        },
        { lease: electionFor(clock, server, 'we') },
      );
      const ended = running.catch((error: unknown) => error);
      views.Machine.sync(object('Machine', 'a'));
      await clock.advance(1000);
      const lease = await server.get(LEASES, NAME);
      await server.replace(LEASES, {
        ...lease,
        spec: { holderIdentity: 'rival', leaseDurationSeconds: 15, leaseTransitions: 9 },
      });
      await clock.advance(1000);
      expect(last?.signal.reason).toMatchObject({ name: 'LeaseLost' });
      expect(await ended).toMatchObject({ name: 'LeaseLost', because: 'taken' });
    });

    it('begins no reconcile when its lease is late, before it is lost', async () => {
      const { clock, views, reconciled, run } = bed();
      const server = createObjectServer();
      let hang = false;
      const patch = server.patch.bind(server);
      const late = {
        ...server,
        patch: (...given: never[]) =>
          hang ? new Promise(() => {}) : patch(...(given as never as [never, never, never])),
      };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- generic port
      const client = late as unknown as LeaseOptions['client'];
      let last: ReconcileContext | undefined;
      const running = run(
        {
          reconcile: (_, context) => {
            last ??= context;
            return Promise.resolve({});
          },
        },
        { lease: electionFor(clock, client, 'we') },
      );
      const ended = running.catch((error: unknown) => error);
      views.Machine.sync(object('Machine', 'a'));
      await clock.advance(0);
      hang = true;
      await clock.advance(10_000);
      expect({ reconciled: reconciled.splice(0), aborted: last?.signal.aborted }).toEqual({
        reconciled: ['a'],
        aborted: false,
      });
      views.Machine.store.put(object('Machine', 'a', 2));
      await settle();
      expect(reconciled).toEqual([]);
      await clock.advance(2000);
      expect(await ended).toMatchObject({ name: 'LeaseLost', because: 'expired' });
    });

    it('releases the lease only after the last reconcile has ended', async () => {
      const { clock, views, stop, run } = bed();
      const server = createObjectServer();
      const holder = (): unknown => server.object(LEASES, NAME)?.['spec'];
      const running = run(
        { reconcile: () => clock.sleep(5000).then(() => ({})) },
        { lease: electionFor(clock, server, 'we') },
      );
      views.Machine.sync(object('Machine', 'a'));
      await clock.advance(1000);
      stop.abort();
      await clock.advance(3999);
      expect(holder()).toMatchObject({ holderIdentity: 'we' });
      await clock.advance(2000);
      await running;
      expect(holder()).not.toHaveProperty('holderIdentity');
    });

    it('keeps the lease when a reconcile does not end: others wait until it expires', async () => {
      const { clock, log, views, stop, run } = bed();
      const server = createObjectServer();
      const running = run(
        { reconcile: () => new Promise(() => {}) },
        { lease: electionFor(clock, server, 'we') },
      );
      views.Machine.sync(object('Machine', 'a'));
      await clock.advance(1000);
      stop.abort();
      await clock.advance(60_000);
      await running;
      expect(server.object(LEASES, NAME)?.['spec']).toMatchObject({ holderIdentity: 'we' });
      expect(log.lines.map(({ message }) => message)).toContain(
        'lease not released: reconciles are still under way',
      );
    });
  });

  it('is ready only when every view is complete and fresh and no reconcile is stuck', async () => {
    const { clock, views, run } = bed();
    const metrics = createMetrics();
    const url = Promise.withResolvers<string>();
    void run(
      { reconcile: (key) => (key === 'hangs' ? new Promise(() => {}) : Promise.resolve({})) },
      { views, health: { port: 0, listening: url.resolve }, metrics, reconcileTimeoutMs: 500 },
    );
    const ready = async (): Promise<string[]> => {
      const response = await fetch(`${await url.promise}/readyz`);
      const lines = (await response.text()).trim().split('\n');
      return [String(response.status), ...lines.filter((line) => line.startsWith('[-]'))];
    };
    expect(await ready()).toEqual([
      '503',
      '[-]view Machine failed: Machine: initial list not complete',
      '[-]view Node failed: Node: initial list not complete',
    ]);
    views.Machine.sync(object('Machine', 'a'));
    views.Node.sync();
    expect(await ready()).toEqual(['200']);
    views.Machine.store.put(object('Machine', 'hangs', 2));
    await clock.advance(500);
    expect(await ready()).toEqual([
      '503',
      '[-]controller test failed: reconciles exceed their time limit: hangs',
    ]);
    const text = await (await fetch(`${await url.promise}/metrics`)).text();
    expect(text).toContain('kubenode_reconcile_seconds_count{controller="test",outcome="done"} 1');
    expect(text).toContain('kubenode_reconcile_seconds_count{controller="test",outcome="timeout"} 1');
    expect(text).toContain('kubenode_queue_depth{queue="test"} 0');
  });

  it('refuses controllers that would conflict, before anything starts', async () => {
    const { run, views } = bed();
    await expect(run({ reads: [reading('Pod')] })).rejects.toThrow('there is no view of Pod');
    expect(views.Machine.stopped).toBe(false);
  });
});

function resultOf(requeueAt: Date | undefined): ReconcileResult {
  return requeueAt ? { requeueAt } : {};
}
