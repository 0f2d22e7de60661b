/** Nodes with their machines and the heartbeats of their agents, in memory. */
import { NAMESPACE_AGENTS } from '../../src/api/names.ts';
import { createStore } from '../../src/kube/cache/store.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { createFactViews, type FactViews, mapFactViews } from '../../src/rules/views.ts';
import { machine, node } from '../../test/support/builders.ts';
import { memoryLog } from '../../test/support/memory-log.ts';
import { CONDITION_TYPES } from './rules.ts';

export interface BenchFleet {
  readonly views: FactViews;
  readonly names: readonly string[];
  /** Turns this condition of the Node round. */
  toggle(name: string, type: string): void;
}

const HOUR_MS = 3_600_000;

export function createFleet(count: number, now: Date): BenchFleet {
  const names = Array.from({ length: count }, (_, index) => `node-${index}`);
  const stores = mapFactViews(() => createStore({ log: memoryLog() }));
  const at = now.toISOString();
  const since = new Date(now.getTime() - HOUR_MS).toISOString();
  let version = 1;
  const statuses = new Map(names.map((name) => [name, new Map(CONDITION_TYPES.map(usual))]));
  stores.nodes.replace(
    names.map((name) => nodeWith(name, statuses.get(name) ?? new Map(), at)),
    '1',
  );
  stores.machines.replace(
    names.map((name) => machineOf(name, at, since)),
    '1',
  );
  stores.agentLeases.replace(
    names.map((name) => leaseOf(name, at)),
    '1',
  );
  const freshness = { synced: true, ageMs: 0, lastContactAt: undefined, error: undefined };
  return {
    views: createFactViews((_, view) => ({ store: stores[view], reflector: { freshness: () => freshness } })),
    names,
    toggle: (name, type) => {
      const its = statuses.get(name);
      if (!its) return;
      its.set(type, its.get(type) === 'True' ? 'False' : 'True');
      version += 1;
      const object = nodeWith(name, its, at);
      stores.nodes.put({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
    },
  };
}

/** Every other condition is True, so that half of the rules read more than one fact. */
function usual(type: string, index: number): readonly [string, 'True' | 'False'] {
  return [type, index % 2 === 0 ? 'True' : 'False'];
}

function nodeWith(name: string, statuses: ReadonlyMap<string, string>, at: string): KubeObject {
  const conditions = [...statuses].map(([type, status]) => ({
    type,
    status,
    reason: `${type}Is${status}`,
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  }));
  const nodeInfo = { bootID: `boot-${name}`, architecture: 'amd64', kernelVersion: '6.8.0' };
  return { ...node(name, 'True', { uid: `uid-${name}` }), status: { conditions, nodeInfo } };
}

/** Its conditions have their status for an hour. */
function machineOf(name: string, at: string, since: string): KubeObject {
  const faults = CONDITION_TYPES.map(usual).map(([type, status]) => ({
    type,
    status,
    since,
    nodeUID: `uid-${name}`,
  }));
  const disk = [{ filesystem: 'imagefs', usedPercent: 40 }];
  return machine(name, { status: { facts: { bootedAt: at, disk }, faults } });
}

function leaseOf(name: string, renewTime: string): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: NAMESPACE_AGENTS },
    spec: { renewTime },
  };
}
