/** A cluster of views over real stores, its live facts and its recorder, on a clock that the test moves second by second. */
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createLiveFacts, type LiveFacts } from '../../../src/rules/live/live-facts.ts';
import type { RecordedLine } from '../../../src/rules/recording/format.ts';
import { createFactRecorder } from '../../../src/rules/recording/recorder.ts';
import {
  createFactViews,
  FACT_VIEWS,
  type FactView,
  type FactViewName,
  type LeaseView,
  mapFactViews,
} from '../../../src/rules/views.ts';
import { type MachineParts, machine, node } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { NOW } from '../../support/virtual-clock.ts';

export const CLUSTER = { uid: 'uid-of-cluster', server: 'https://test' };

export interface RecordingBed {
  readonly lines: RecordedLine[];
  readonly live: LiveFacts;
  now(): Date;
  /** Seconds pass: agents that are alive renew their Leases, kubelets write their heartbeats, the recorder sweeps. */
  elapse(seconds: number): void;
  synced(): void;
  /** Statuses by type; what is not given stays. */
  node(name: string, statuses: Readonly<Record<string, string>>, bootID?: string): void;
  /** The kubelet writes no heartbeats from now on. */
  freeze(name: string): void;
  deleteNode(name: string): void;
  machine(name: string, parts?: MachineParts): void;
  agent(name: string, isAlive: boolean): void;
  event(name: string, fields: Readonly<Record<string, unknown>>): void;
  job(job: RemedyOperationJob): void;
  /** An object of any view, as it is from now on. */
  put(view: FactViewName, object: KubeObject): void;
  /** The API server does not answer about this view for so long. */
  silence(view: FactViewName, ageMs: number | undefined): void;
}

const KUBELET_SECONDS = 300;
const LEASE_SECONDS_OF_ALL = 10;

interface KnownNode {
  readonly uid: string;
  readonly bootID: string;
  readonly conditions: Map<string, { readonly status: string; readonly since: string }>;
  isFrozen: boolean;
  beatAt: string;
}

export function recordingBed(): RecordingBed {
  const log = memoryLog();
  const stores = mapFactViews(() => createStore({ log }));
  const lines: RecordedLine[] = [];
  const nodes = new Map<string, KnownNode>();
  const alive = new Set<string>();
  const silent = new Map<FactViewName, number>();
  let [ms, version, uids] = [0, 0, 0];
  const clock = { now: () => new Date(+NOW + ms), monotonicMs: () => ms };
  const views = createFactViews((_, view) => viewOf(view));
  const live = createLiveFacts({ views, clock });
  const recorder = createFactRecorder({
    views,
    clock,
    cluster: CLUSTER,
    kubenode: '0.0.0',
    write: (line) => lines.push(line),
  });

  return {
    lines,
    live,
    now: () => clock.now(),
    elapse,
    synced: () => recorder.synced(),
    node: (name, statuses, bootID) => {
      const known = nodes.get(name) ?? createNode(bootID);
      const next: KnownNode = { ...known, bootID: bootID ?? known.bootID, beatAt: time() };
      for (const [type, status] of Object.entries(statuses)) {
        const before = next.conditions.get(type);
        next.conditions.set(type, before?.status === status ? before : { status, since: time() });
      }
      nodes.set(name, next);
      putNode(name, next);
    },
    freeze: (name) => {
      const known = nodes.get(name);
      if (known) known.isFrozen = true;
    },
    deleteNode: (name) => {
      nodes.delete(name);
      const present = stores.nodes.get(name);
      if (present) stores.nodes.remove(versioned(present));
    },
    machine: (name, parts) => put('machines', machine(name, parts)),
    agent: (name, isAlive) => {
      if (isAlive) alive.add(name);
      else alive.delete(name);
      if (isAlive) renew('agentLeases', name);
    },
    event: (name, fields) => {
      const involvedObject = { kind: 'Node', name: 'm-1', uid: 'm-1' };
      put('events', { apiVersion: 'v1', kind: 'Event', metadata: { name }, involvedObject, ...fields });
    },
    job: (job) => put('jobs', job),
    put,
    silence: (view, ageMs) => {
      if (ageMs === undefined) silent.delete(view);
      else silent.set(view, ageMs);
    },
  };

  function createNode(bootID = 'boot-1'): KnownNode {
    uids += 1;
    return { uid: `node-${uids}`, bootID, conditions: new Map(), isFrozen: false, beatAt: time() };
  }

  function elapse(seconds: number): void {
    for (let second = 0; second < seconds; second += 1) {
      ms += 1000;
      if (ms % (LEASE_SECONDS_OF_ALL * 1000) === 0) renewAll();
      if (ms % (KUBELET_SECONDS * 1000) === 0) beat();
      recorder.sweep();
    }
  }

  function renewAll(): void {
    for (const name of alive) renew('agentLeases', name);
    for (const [name, { isFrozen }] of nodes) if (!isFrozen) renew('nodeLeases', name);
  }

  function beat(): void {
    for (const [name, known] of nodes) {
      if (known.isFrozen) continue;
      known.beatAt = time();
      putNode(name, known);
    }
  }

  function time(): string {
    return clock.now().toISOString();
  }

  function viewOf(view: FactViewName): FactView {
    const freshness = (): ReturnType<FactView['reflector']['freshness']> => {
      return { synced: true, ageMs: silent.get(view) ?? 0, lastContactAt: undefined, error: undefined };
    };
    return { store: stores[view], reflector: { freshness } };
  }

  function putNode(name: string, { uid, bootID, conditions, beatAt }: KnownNode): void {
    const all = [...conditions].map(([type, { status, since }]) => ({
      type,
      status,
      message: `secret of ${type}`,
      lastTransitionTime: since,
      lastHeartbeatTime: beatAt,
    }));
    const status = { conditions: all, nodeInfo: { bootID, kernelVersion: '6.8.0' } };
    put('nodes', { ...node(name, 'True', { uid, creationTimestamp: NOW.toISOString() }), status });
  }

  function renew(view: LeaseView, name: string): void {
    put(view, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, ...FACT_VIEWS[view].selection },
      spec: { renewTime: time() },
    });
  }

  function put(view: FactViewName, object: KubeObject): void {
    stores[view].put(versioned(object));
  }

  function versioned(object: KubeObject): KubeObject {
    version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  }
}
