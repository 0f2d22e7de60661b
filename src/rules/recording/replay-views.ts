/** Provides the views of a replay: recorded lines instead of a watch. */
import { createStore, type WritableStore } from '../../kube/cache/store.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Log } from '../../kube/process/log.ts';
import {
  createFactViews,
  FACT_VIEWS,
  type FactView,
  type FactViewName,
  type FactViews,
  LEASE_VIEWS,
  type LeaseView,
  mapFactViews,
  type ViewObject,
} from '../views.ts';
import type { ContactLine, HeartbeatLine, LeaseLine, RecordedLine } from './format.ts';
import { withHeartbeats } from './trim.ts';

export type ReplayStores = { readonly [V in FactViewName]: WritableStore<ViewObject<V>> };

export interface ReplayViews {
  readonly views: FactViews;
  readonly stores: ReplayStores;
  apply(line: RecordedLine): void;
  hasSynced(): boolean;
  /** Tells whether the agent was heard of and is not silent. */
  isHeard(machine: string): boolean;
  /** Records that agent and kubelet were heard of just now, unless they are silent. */
  renew(machine: string): void;
}

/** Holds the time that the clock of the replay reads. Facts measure by it when they hear of an agent. */
export interface ReplayTime {
  ms: number;
}

export function createReplayViews(log: Log, time: ReplayTime): ReplayViews {
  // The lines of a view hold objects of its type, as far as they were checked.
  const stores = mapFactViews(({ indexers }) => createStore({ log, ...optional('indexers', indexers) }));
  const heard = { agentLeases: new Set<string>(), nodeLeases: new Set<string>() };
  const missingSince = new Map<FactViewName, number>();
  const renewedMs = new Map<string, number>();
  let [isSynced, version] = [false, 0];
  return {
    stores: stores as unknown as ReplayStores,
    views: createFactViews((_, view) => viewOf(view)),
    apply: (line) => {
      if (line.type === 'Put') put(stores[line.view], line.object);
      else if (line.type === 'Delete') remove(line.view, line.name);
      else if (line.type === 'Heartbeat') beat(line);
      else if (line.type === 'Lease') setLease(line);
      else if (line.type === 'Contact') setContact(line);
      else isSynced ||= line.type === 'Synced';
    },
    hasSynced: () => isSynced,
    isHeard: (machine) => heard.agentLeases.has(machine),
    renew: (machine) => {
      // One reconcile reads many facts at the same time.
      if (renewedMs.get(machine) === time.ms) return;
      renewedMs.set(machine, time.ms);
      for (const view of LEASE_VIEWS) if (heard[view].has(machine)) heardAt(view, machine, time.ms);
    },
  };

  function viewOf(view: FactViewName): FactView {
    const freshness = (): ReturnType<FactView['reflector']['freshness']> => {
      const ageMs = isSynced ? time.ms - (missingSince.get(view) ?? time.ms) : Infinity;
      return { synced: isSynced, ageMs, lastContactAt: undefined, error: undefined };
    };
    return { store: stores[view], reflector: { freshness } };
  }

  /** Sets the resource version of an object by the order of the lines, which is that of the changes. */
  function versioned(object: KubeObject): KubeObject {
    version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  }

  function put(store: WritableStore, object: KubeObject): void {
    store.put(versioned(object));
  }

  function remove(view: FactViewName, key: string): void {
    if (view === 'nodes') heard.nodeLeases.delete(key);
    const present = stores[view].get(key);
    if (present) stores[view].remove(versioned(present));
  }

  function beat({ node, times }: HeartbeatLine): void {
    const present = stores.nodes.get(node);
    if (present) put(stores.nodes, withHeartbeats(present, new Map(Object.entries(times))));
  }

  function setLease({ view, name, silentSince }: LeaseLine): void {
    if (silentSince === undefined) heard[view].add(name);
    else heard[view].delete(name);
    heardAt(view, name, silentSince === undefined ? time.ms : Math.min(time.ms, Date.parse(silentSince)));
  }

  function setContact({ view, lostSince }: ContactLine): void {
    if (lostSince === undefined) missingSince.delete(view);
    else missingSince.set(view, Date.parse(lostSince));
  }

  function heardAt(view: LeaseView, name: string, ms: number): void {
    const present = time.ms;
    time.ms = ms;
    try {
      // The version makes each one another timestamp than the last.
      const renewTime = `${new Date(ms).toISOString().slice(0, -1)}${String(version).padStart(9, '0')}Z`;
      put(stores[view], leaseOf(view, name, renewTime));
    } finally {
      time.ms = present;
    }
  }
}

function leaseOf(view: LeaseView, name: string, renewTime: string): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, ...optional('namespace', FACT_VIEWS[view].selection?.namespace) },
    spec: { renewTime },
  };
}
