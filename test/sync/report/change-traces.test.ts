import { describe, expect, it, onTestFinished } from 'vitest';
import type { Cluster, Release } from '../../../src/api/generated/types.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import type { EndedTrace } from '../../../src/observability/trace/sources/ended.ts';
import { createChangeTraces } from '../../../src/sync/report/change-traces.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const COMMIT = 'a'.repeat(40);

interface Bed {
  readonly clock: VirtualClock;
  /** The keys of what was handed to the exporter. */
  readonly exported: Set<string>;
  readonly held: Set<string>;
  readonly close: () => Promise<void>;
  /** A Release that has ended now, or has not. */
  readonly put: (pipeline: string, parts?: { readonly ended?: boolean; readonly changed?: number }) => void;
}

function createBed(retryMs?: number): Bed {
  const [clock, log] = [virtualClock(), memoryLog()];
  const stores = { clusters: createStore<Cluster>({ log }), releases: createStore<Release>({ log }) };
  const [exported, held] = [new Set<string>(), new Set(['fleet'])];
  const exporter = {
    export: async (ended: readonly EndedTrace[]) => {
      for (const { key } of ended) exported.add(key.replace(COMMIT, 'C').replace(/\/2030.*/, ''));
      return retryMs;
    },
  };
  const traces = createChangeTraces({ stores, exporter, clock, log, isHeld: (name) => held.has(name) });
  onTestFinished(() => traces.close());
  return {
    clock,
    exported,
    held,
    close: async () => await traces.close(),
    put: (pipeline, { ended = true, changed = 1 } = {}) => {
      const spec = { pipeline, commit: COMMIT, plan: { clusters: 1, changed } };
      const status = ended ? { finishedAt: clock.now().toISOString() } : {};
      stores.releases.put({
        metadata: { name: pipeline, uid: pipeline, resourceVersion: String(++version) },
        spec,
        status,
      } as unknown as Release);
    },
  };
}

let version = 0;

describe('DAT-10 the traces of commits', () => {
  it('wait for the record of the last clusters, and are then exported', async () => {
    const { clock, exported, put } = createBed();
    put('fleet', { ended: false });
    await clock.advance(65_000);
    put('fleet');
    await clock.advance(5000);
    expect([...exported]).toEqual([]);
    await clock.advance(10_000);
    expect([...exported]).toEqual(['release/fleet/C', 'change/C']);
  });

  it('are exported by the process that holds the Lease of the Pipeline', async () => {
    const { clock, exported, held, put } = createBed();
    held.clear();
    put('fleet');
    await clock.advance(120_000);
    expect([...exported]).toEqual([]);
    held.add('fleet');
    await clock.advance(120_000);
    expect([...exported]).toEqual(['release/fleet/C', 'change/C']);
  });

  it('are none of a Release that goes on, and none of one that changes no cluster', async () => {
    const { clock, exported, held, put } = createBed();
    held.add('other');
    put('fleet', { ended: false });
    put('other', { changed: 0 });
    await clock.advance(120_000);
    expect([...exported]).toEqual([]);
  });

  it('have the span of the commit with the last Release of it', async () => {
    const { clock, exported, put } = createBed();
    put('fleet');
    put('other', { ended: false });
    await clock.advance(120_000);
    expect([...exported]).toEqual(['release/fleet/C']);
    put('other');
    await clock.advance(120_000);
    expect([...exported]).toEqual(['release/fleet/C', 'change/C']);
  });

  it('wait for no Release of the commit that changes no cluster', async () => {
    const { clock, exported, put } = createBed();
    put('fleet');
    put('other', { ended: false, changed: 0 });
    await clock.advance(120_000);
    expect([...exported]).toEqual(['release/fleet/C', 'change/C']);
  });

  it('leave no timer behind when they are closed', async () => {
    const { clock, close } = createBed();
    await clock.advance(1000);
    expect(clock.sleepers).toBe(1);
    await close();
    expect(clock.sleepers).toBe(0);
  });
});
