import { describe, expect, it } from 'vitest';
import type { DefenderPolicy } from '../../../../src/api/generated/types.ts';
import { POD_INDEXERS } from '../../../../src/defender/facts/observed-views.ts';
import { selectionKey } from '../../../../src/defender/facts/signs/named-signs.ts';
import { createPolicySigns, type NodeSigns } from '../../../../src/defender/facts/signs/signs.ts';
import { createStore, type WritableStore } from '../../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { policy } from '../../builders.ts';

const PATTERN = 'medik8s-leases/node-{node}';
const LEASES = 'Lease medik8s-leases';
const NOTHING: NodeSigns = { leases: [], pods: {}, unobserved: [] };

interface OpenedView {
  readonly store: WritableStore;
  readonly signal: AbortSignal | undefined;
  ageMs: number;
}

function bed() {
  const policies = createStore<DefenderPolicy>({ log: memoryLog() });
  const clock = virtualClock();
  const views = new Map<string, OpenedView>();
  const changed: (string | undefined)[] = [];
  const signs = createPolicySigns({
    policies,
    clock,
    changed: (node) => void changed.push(node),
    open(selection) {
      const store = createStore({ log: memoryLog(), indexers: POD_INDEXERS });
      const opened: { store: WritableStore; signal: AbortSignal | undefined; ageMs: number } = {
        store,
        signal: undefined,
        ageMs: Number.POSITIVE_INFINITY,
      };
      views.set(selectionKey(selection), opened);
      const freshness = () => ({
        synced: true,
        lastContactAt: undefined,
        ageMs: opened.ageMs,
        error: undefined,
      });
      const run = async (signal: AbortSignal): Promise<void> => {
        opened.signal = signal;
      };
      return { store, reflector: { run, freshness, synced: async () => undefined } };
    },
  });
  return { policies, clock, views, changed, signs };
}

function naming(patterns: readonly string[], podLabels: readonly string[], name = 'one'): DefenderPolicy {
  const foreign = patterns.map((pattern) => ({ lease: pattern }));
  const made = policy({ blockers: { foreign, podLabels, minNodeAgeSeconds: 0, promql: [] } });
  return { ...made, metadata: { ...made.metadata, name } };
}

function lease(node: string, spec: object, version: number): KubeObject {
  const metadata = { namespace: 'medik8s-leases', name: `node-${node}`, resourceVersion: String(version) };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}

function pod(nodeName: string, phase: string, version: number): KubeObject {
  const metadata = { namespace: 'shop', name: 'db-0', resourceVersion: String(version) };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName }, status: { phase } };
}

function viewOf({ views }: Pick<ReturnType<typeof bed>, 'views'>, key: string): OpenedView {
  const view = views.get(key);
  if (!view) throw new Error(`no view ${key}: there are ${[...views.keys()].join(', ')}`);
  return view;
}

describe('the signs that policies name', () => {
  it('R23 are watched while a policy names them, and no longer', () => {
    const made = bed();
    expect([made.views.size, made.signs.of('m-1')]).toEqual([0, NOTHING]);
    made.policies.put(naming([PATTERN], []));
    expect([...made.views.keys()]).toEqual([LEASES]);
    expect(made.changed).toEqual([undefined]);
    made.policies.put(naming([PATTERN], ['app=db'], 'two'));
    expect([...made.views.keys()]).toEqual([LEASES, 'Pod app=db']);
    made.policies.remove(naming([PATTERN], [], 'one'));
    expect(viewOf(made, LEASES).signal?.aborted).toBe(false);
    made.policies.remove(naming([], [], 'two'));
    expect([...made.views.values()].map(({ signal }) => signal?.aborted)).toEqual([true, true]);
    expect(made.signs.of('m-1')).toEqual(NOTHING);
  });

  it('R23 are unobserved until they are listed, and when their watch is stale', () => {
    const made = bed();
    made.policies.put(naming([PATTERN], ['app=db']));
    const [leases, pods] = [viewOf(made, LEASES), viewOf(made, 'Pod app=db')];
    expect(made.signs.of('m-1').unobserved).toEqual([PATTERN, 'app=db']);
    leases.ageMs = 0;
    expect(made.signs.of('m-1').unobserved).toEqual(['app=db']);
    pods.ageMs = 150_000;
    expect(made.signs.of('m-1')).toEqual(NOTHING);
    leases.ageMs = 150_001;
    expect(made.signs.of('m-1').unobserved).toEqual([PATTERN]);
  });

  it('R23 show a Lease while it is held, and report a change of that only', () => {
    const made = bed();
    made.policies.put(naming([PATTERN], []));
    const leases = viewOf(made, LEASES);
    leases.ageMs = 0;
    made.changed.length = 0;
    const held = { holderIdentity: 'nhc', leaseDurationSeconds: 60 };
    const renewTime = (): string => made.clock.now().toISOString();
    leases.store.put(lease('m-1', { ...held, renewTime: renewTime() }, 1));
    expect(made.signs.of('m-1').leases).toEqual(['medik8s-leases/node-m-1']);
    expect(made.signs.of('m-2').leases).toEqual([]);
    made.clock.jumpWall(30_000);
    leases.store.put(lease('m-1', { ...held, renewTime: renewTime() }, 2));
    expect(made.changed).toEqual(['m-1']);
    made.clock.jumpWall(61_000);
    expect(made.signs.of('m-1').leases).toEqual([]);
    leases.store.put(lease('m-1', { ...held, renewTime: renewTime() }, 3));
    leases.store.remove(lease('m-1', {}, 4));
    expect(made.changed).toEqual(['m-1', 'm-1', 'm-1', 'm-1']);
  });

  it('R23 show a Pod with a named label while it runs on the node', () => {
    const made = bed();
    made.policies.put(naming([], ['app=db']));
    const pods = viewOf(made, 'Pod app=db');
    pods.ageMs = 0;
    made.changed.length = 0;
    pods.store.put(pod('m-1', 'Running', 1));
    expect(made.signs.of('m-1').pods).toEqual({ 'app=db': 'shop/db-0' });
    pods.store.put(pod('m-1', 'Succeeded', 2));
    expect(made.signs.of('m-1').pods).toEqual({});
    expect(new Set(made.changed)).toEqual(new Set(['m-1']));
  });

  it('end all watches when they are closed', () => {
    const made = bed();
    made.policies.put(naming([PATTERN], ['app=db']));
    made.signs.close();
    expect([...made.views.values()].map(({ signal }) => signal?.aborted)).toEqual([true, true]);
    made.policies.put(naming([PATTERN, 'locks/{node}'], []));
    expect(made.views.size).toBe(2);
  });
});
