import { describe, expect, it } from 'vitest';
import type {
  Machine,
  MachineSet,
  NodeRemedier,
  RemedyOperationJob,
} from '../../../src/api/generated/types.ts';
import { orphanInstanceKey } from '../../../src/api/grants.ts';
import { createCallWindow } from '../../../src/defender/facts/call-window.ts';
import {
  createFleetObserver,
  type FleetObserver,
  type FleetObserverOptions,
} from '../../../src/defender/facts/observer.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { ago, machine, NOW, node } from '../../support/builders.ts';
import { hostedCluster } from '../../support/hosting/objects.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';
import { policy } from '../builders.ts';
import { job } from '../objects.ts';
import { completeViews, type TestViews, testViews } from './observed.ts';

interface Bed {
  readonly views: TestViews;
  readonly observer: FleetObserver;
  readonly clock: VirtualClock;
}

function bed(openSigns?: FleetObserverOptions['openSigns']): Bed {
  const views = testViews();
  const clock = virtualClock();
  const calls = createCallWindow(clock);
  calls.add({ verb: 'get', code: '200', seconds: 0.1, serverTime: clock.now() });
  return {
    views,
    clock,
    observer: createFleetObserver({ views, clock, calls, ...optional('openSigns', openSigns) }),
  };
}

function completeBed(): Bed {
  const made = bed();
  completeViews(made.views);
  made.observer.facts();
  return made;
}

function pod(name: string, nodeName: string, phase = 'Running'): KubeObject {
  const labels = { 'kubenode.dev/block': 'true' };
  const metadata = { name, namespace: 'train', labels };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName }, status: { phase } };
}

function countsOf({ observer }: Bed): readonly [number, readonly number[]] {
  const [grouping] = observer.policies().groupings.filter(({ per }) => per === 'Cluster');
  const { total, byStates } = observer.facts().group(grouping?.id ?? '', 'cluster');
  return [total, byStates.flatMap((count, states) => (count > 0 ? [states] : []))];
}

const HARDWARE = { 'kubenode.dev/hardware': '9f31c2d4' };

function endedJobOn(name: string, settledSecondsAgo: number): RemedyOperationJob {
  const steps = [{ id: 'b', state: 'Succeeded' as const }];
  const timeline = { settledAt: ago(settledSecondsAgo) };
  const made = job(name, { status: { steps, timeline, outcome: { class: 'Permanent' } } });
  return { ...made, metadata: { ...made.metadata, labels: HARDWARE } };
}

function repairsOf({ observer }: Bed, name: string): number | undefined {
  return observer.facts().machine(name)?.repairs?.length;
}

function rule(name: string, mode: 'Enforce' | 'Shadow'): NodeRemedier {
  const found = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'NodeRemedier',
    metadata: { name },
    spec: { mode },
  };
  return found as NodeRemedier;
}

function waits(...rules: readonly string[]): NonNullable<Machine['status']>['remedyWaits'] {
  return rules.map((name) => ({
    rule: name,
    reason: 'Indeterminate',
    since: ago(900),
    message: 'x is unknown',
  }));
}

describe('the signs of other tools, in the facts of the fleet', () => {
  it('R23 count a machine as maintained while its Lease is held, and are unobserved when nothing opens them', () => {
    const blockers = {
      foreign: [{ lease: 'medik8s-leases/node-{node}' }],
      podLabels: [],
      minNodeAgeSeconds: 0,
      promql: [],
    };
    const leases = testViews().nodes;
    const made = bed(() => ({
      store: leases.store,
      reflector: { ...leases.reflector, run: async () => undefined, synced: async () => undefined },
    }));
    made.views.policies.store.put(policy({ blockers }));
    made.views.machines.store.put(machine('m-1'));
    made.views.nodes.store.put(node('m-1'));
    completeViews(made.views);
    made.observer.policies();
    expect(made.observer.facts().machine('m-1')).toMatchObject({
      foreignLeases: [],
      unobserved: ['medik8s-leases/node-{node}'],
    });
    leases.store.replace([]);
    expect(countsOf(made)).toEqual([1, [0]]);
    const metadata = { namespace: 'medik8s-leases', name: 'node-m-1' };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
    leases.store.put({ ...lease, spec: { holderIdentity: 'nhc' } });
    expect(made.observer.facts().machine('m-1')?.foreignLeases).toEqual(['medik8s-leases/node-m-1']);
    expect(countsOf(made)).toEqual([1, [8]]);
    leases.store.remove(lease);
    expect(countsOf(made)).toEqual([1, [0]]);
    const renewTime = made.clock.now().toISOString();
    leases.store.put({ ...lease, spec: { holderIdentity: 'nhc', leaseDurationSeconds: 60, renewTime } });
    expect(made.observer.facts().machine('m-1')?.foreignLeases).toEqual(['medik8s-leases/node-m-1']);
    // No event tells that the time of a Lease is over, or that its watch is stale.
    made.clock.jumpWall(61_000);
    expect(made.observer.facts().machine('m-1')?.foreignLeases).toEqual([]);
    leases.ageMs = 150_001;
    expect(made.observer.facts().machine('m-1')?.unobserved).toEqual(['medik8s-leases/node-{node}']);
    const unopened = completeBed();
    unopened.views.machines.store.put(machine('m-1'));
    expect(unopened.observer.facts().machine('m-1')?.foreignLeases).toBeUndefined();
  });
});

describe('the observer of the fleet', () => {
  it('R26 counts the repairs of hardware that got another name, from the moment that its Machine is deleted', () => {
    const made = completeBed();
    const { machines, jobs } = made.views;
    const old = machine('m-1', { metadata: { uid: 'uid-of-m-1', labels: HARDWARE } });
    machines.store.put(old);
    jobs.store.put(endedJobOn('m-1', 600));
    machines.store.put(machine('m-2', { metadata: { labels: HARDWARE } }));
    expect(repairsOf(made, 'm-2')).toBe(0);
    machines.store.remove(old);
    expect(repairsOf(made, 'm-2')).toBe(1);
    jobs.store.remove(endedJobOn('m-1', 600));
    expect(repairsOf(made, 'm-2')).toBe(0);
  });

  it('R26 trusts the label of the Machine for its hardware, and not one that a kubelet sets', () => {
    const made = completeBed();
    made.views.jobs.store.put(endedJobOn('m-1', 600));
    made.views.machines.store.put(machine('m-2'));
    made.views.nodes.store.put(node('m-2', 'True', { labels: HARDWARE }));
    expect(repairsOf(made, 'm-2')).toBe(0);
  });

  it('knows the control planes of Clusters, and nothing before they are read', () => {
    const { views, observer } = bed();
    for (const [name, { store }] of Object.entries(views)) if (name !== 'clusters') store.replace([]);
    expect([observer.facts().view.ageSeconds, observer.liveGrants()]).toEqual([undefined, undefined]);
    views.clusters.store.replace([hostedCluster({ spec: { paused: true } })]);
    expect(observer.facts().view.ageSeconds).toBe(0);
    expect(observer.facts().machine('cluster:ci')).toMatchObject({ name: 'cluster:ci', paused: true });
    expect(observer.facts().machine('cluster:other')).toBeUndefined();
    expect(observer.facts().machine('ci')).toBeUndefined();
  });

  it('knows no control plane in a process that reads no Clusters', () => {
    const { clusters: _, ...views } = testViews();
    const clock = virtualClock();
    const observer = createFleetObserver({ views, clock, calls: createCallWindow(clock) });
    expect(observer.facts().machine('cluster:ci')).toBeUndefined();
  });

  it('MAC-36 knows an instance without a Machine by the UID of that, and counts it as no machine', () => {
    const made = completeBed();
    const key = orphanInstanceKey('00000000-0000-4000-8000-000000000100');
    expect(made.observer.facts().machine(key)).toMatchObject({ name: key, established: false });
    expect(made.observer.holder(key, { kind: 'Machine', name: 'm-100' })).toBe('NotFound');
    expect(countsOf(made)).toEqual([0, []]);
  });

  it('R13 knows nothing before every view is complete', () => {
    const { views, observer } = bed();
    views.machines.store.replace([machine('m-1')]);
    expect(observer.liveGrants()).toBeUndefined();
    expect(observer.facts().view.ageSeconds).toBeUndefined();
    expect(observer.facts().missingIn('(none)')).toBeUndefined();
    expect(observer.holder('m-1', { kind: 'RemedyOperationJob', name: 'gone' })).toBe('Unknown');
    expect(observer.facts().machine('m-1')).not.toHaveProperty('blockingPods');
    completeViews(views);
    expect(observer.liveGrants()).toEqual([]);
    expect(observer.facts().view).toEqual({
      ageSeconds: 0,
      apiErrorPercent: 0,
      clockSkewSeconds: 0,
      worstClockSkewSeconds: 0,
    });
    expect(observer.facts().machine('m-1')).toMatchObject({ blockingPods: {} });
    expect(observer.holder('m-1', { kind: 'RemedyOperationJob', name: 'gone' })).toBe('NotFound');
  });

  it('R20 is as old as its oldest view', () => {
    const { views, observer } = completeBed();
    views.jobs.ageMs = 12_000;
    views.nodes.ageMs = 160_000;
    expect(observer.facts().view.ageSeconds).toBe(160);
  });

  it('R14 follows Machines, Nodes and Pods in any order', () => {
    const made = completeBed();
    const { views, observer } = made;
    views.policies.store.put(policy());
    views.nodes.store.put(node('m-1', 'True'));
    views.pods.store.put(pod('p', 'm-1'));
    views.machines.store.put(machine('m-1'));
    expect(observer.facts().machine('m-1')).toMatchObject({
      readiness: 'Ready',
      blockingPods: { 'kubenode.dev/block=true': 'train/p' },
    });
    expect(countsOf(made)).toEqual([1, [0]]);
    views.nodes.store.put(node('m-1', 'False'));
    expect(countsOf(made)).toEqual([1, [1]]);
    views.pods.store.put(pod('p', 'm-1', 'Succeeded'));
    expect(observer.facts().machine('m-1')).toMatchObject({ blockingPods: {} });
    views.nodes.store.remove(node('m-1'));
    expect(observer.facts().machine('m-1')).toMatchObject({ readiness: 'NotReady', established: false });
    expect(countsOf(made)).toEqual([0, []]);
  });

  it('counts in the groups of a policy from the moment that it exists', () => {
    const made = completeBed();
    made.views.machines.store.put(machine('m-1'));
    made.views.nodes.store.put(node('m-1'));
    made.views.policies.store.put(policy());
    expect(made.observer.policies().valid.map(({ name }) => name)).toEqual(['fleet-default']);
    expect(countsOf(made)).toEqual([1, [0]]);
    made.views.policies.store.remove(policy());
    expect(made.observer.policies().valid).toEqual([]);
  });

  it('R20 measures how long a Node is Unknown by our own clock', async () => {
    const { views, observer, clock } = completeBed();
    views.machines.store.put(machine('m-1'));
    views.nodes.store.put(node('m-1', 'Unknown'));
    await clock.advance(30_000);
    views.nodes.store.put(node('m-1', 'Unknown', { labels: { changed: 'yes' } }));
    expect(observer.facts().unknownSince()).toEqual([NOW]);
    views.nodes.store.put(node('m-1', 'True'));
    expect(observer.facts().unknownSince()).toEqual([]);
    views.nodes.store.put(node('m-1', 'Unknown'));
    expect(observer.facts().unknownSince()).toEqual([clock.now()]);
  });

  it('takes the recorded time for a Node that was Unknown before we began to observe', () => {
    const { views, observer } = bed();
    views.nodes.store.put(node('m-1', 'Unknown'));
    views.machines.store.put(machine('m-1'));
    completeViews(views);
    expect(observer.facts().unknownSince()).toEqual([new Date(ago(3600))]);
  });

  it('R18 knows which facts a rule in mode Enforce has missed for how long, and nothing of other rules', () => {
    const { views, observer } = completeBed();
    views.nodes.store.put(node('m-1'));
    views.rules.store.put(rule('hang', 'Enforce'));
    views.rules.store.put(rule('disk', 'Shadow'));
    const denied = { rule: 'hang', reason: 'NodeBusy', since: ago(900) };
    const found = (remedyWaits: NonNullable<Machine['status']>['remedyWaits']) => {
      views.machines.store.put(machine('m-1', { status: { ...optional('remedyWaits', remedyWaits) } }));
      return observer
        .facts()
        .withUnknownFacts()
        ?.map(({ unknownFacts }) => unknownFacts);
    };
    const missed = [[{ rule: 'hang', since: new Date(ago(900)), message: 'x is unknown' }]];
    expect(found(waits('disk', 'hang', 'deleted'))).toEqual(missed);
    expect(found(waits('disk'))).toEqual([]);
    views.rules.store.put(rule('disk', 'Enforce'));
    expect(found(waits('disk'))).toHaveLength(1);
    expect(found([denied])).toEqual([]);
    expect(found(undefined)).toEqual([]);
    expect(bed().observer.facts().withUnknownFacts()).toBeUndefined();
  });

  it('R14 remembers a machine that was deleted until that is recorded, or until it is back', () => {
    const { views, observer } = completeBed();
    const labels = { 'kubenode.dev/pool': 'web' };
    for (const name of ['m-1', 'm-2', 'm-3']) {
      views.machines.store.put(machine(name, { metadata: { labels }, spec: { zone: 'a' } }));
    }
    for (const name of ['m-1', 'm-2']) views.nodes.store.put(node(name));
    for (const name of ['m-1', 'm-2', 'm-3']) views.machines.store.remove(machine(name));
    const recorded = { pool: 'web', zone: 'a', since: NOW.toISOString() };
    expect([...observer.deleted()]).toEqual([
      ['m-1', recorded],
      ['m-2', recorded],
    ]);
    views.machines.store.put(machine('m-1'));
    observer.recorded('m-2');
    expect([...observer.deleted()]).toEqual([]);
  });

  it('R14 remembers a bounded number of deleted machines while another process leads', () => {
    const { views, observer } = completeBed();
    for (let n = 0; n < 2100; n += 1) {
      views.machines.store.put(machine(`m-${n}`));
      views.nodes.store.put(node(`m-${n}`));
      views.machines.store.remove(machine(`m-${n}`));
    }
    expect(observer.deleted().size).toBe(2048);
    expect([observer.deleted().has('m-0'), observer.deleted().has('m-2099')]).toEqual([false, true]);
  });

  it('R14 misses what a MachineSet wants', () => {
    const { views, observer } = completeBed();
    const spec = { replicas: 2, template: { labels: {} } } as unknown as MachineSet['spec'];
    const set: MachineSet = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineSet',
      metadata: { name: 'web' },
      spec,
    };
    views.machineSets.store.put(set);
    expect(observer.facts().missingIn('web')).toBe(2);
    views.machineSets.store.remove(set);
    expect(observer.facts().missingIn('web')).toBe(0);
  });

  it('R32 lists the grants of live objects, and forgets those of deleted ones', () => {
    const { views, observer } = completeBed();
    views.jobs.store.put(job('m-1'));
    views.nodes.store.put(node('m-2', 'True', { annotations: { 'kubenode.dev/cordoned-by': 'g-5-0' } }));
    expect(observer.liveGrants()?.map(({ machine: name, entry }) => [name, entry.fence])).toEqual([
      ['m-1', 7],
      ['m-2', 5],
    ]);
    views.jobs.store.remove(job('m-1'));
    views.nodes.store.put(node('m-2'));
    expect(observer.liveGrants()).toEqual([]);
    observer.close();
    views.jobs.store.put(job('m-1'));
    expect(observer.liveGrants()).toEqual([]);
  });
});
