/** Follows the views: keeps what a single state of an object does not tell, and reports which facts changed. */
import type { MaintenanceEvent, RemedyOperationJob } from '../../api/generated/types.ts';
import { NAMESPACE_AGENTS, NAMESPACE_OF_NODE_LEASES } from '../../api/names.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ComponentHistories, observeComponents } from '../clocks/component-clock.ts';
import { type ConditionHistory, observeConditions } from '../clocks/condition-clock.ts';
import { countEvent, type EventCounts } from '../clocks/event-counts.ts';
import { createJobTracker, type JobTracker } from '../clocks/job-ends.ts';
import { createLastChanges, type LastChanges } from '../clocks/last-change.ts';
import type { ReadTime } from '../clocks/time-point.ts';
import type { NodeSnapshot } from '../facts/reading/snapshot.ts';
import {
  AGENT_TOPICS,
  ALL_TOPICS,
  conditionChanges,
  type FactChange,
  machineChanges,
  nodeChanges,
  topic,
} from './fact-changes.ts';
import { type FactViews, kubeletHeartbeat, nodeOfEvent, viewProblems } from './fact-views.ts';
import { createMaintenanceTracker, type MaintenanceTracker } from './machine-objects.ts';

export interface FactTracker {
  snapshot(machine: string): NodeSnapshot;
  onChange(listener: (change: FactChange) => void): () => void;
  close(): void;
}

export interface FactTrackerOptions {
  readonly views: FactViews;
  readonly readTime: ReadTime;
  readonly maxViewAgeMs: number | undefined;
  /** True for a command that reads once and so trusts the writer of a condition: see `ConditionSources`. */
  readonly startsAtTransition: boolean;
}

interface Tracked extends FactTrackerOptions {
  readonly conditions: Map<string, ConditionHistory>;
  readonly components: Map<string, ComponentHistories>;
  readonly events: Map<string, EventCounts>;
  readonly agents: LastChanges;
  /** When each kubelet last showed that it is alive: `kubelets` by the heartbeat in the Node, `kubeletLeases` by its Lease. */
  readonly kubelets: LastChanges;
  readonly kubeletLeases: LastChanges;
  readonly jobs: JobTracker;
  readonly maintenance: MaintenanceTracker;
  readonly emit: (machine: string, topics: readonly string[], silentMs?: number) => void;
  eventsSinceMs: number | undefined;
}

export function createFactTracker(options: FactTrackerOptions): FactTracker {
  const listeners = new Set<(change: FactChange) => void>();
  const tracked: Tracked = {
    ...options,
    conditions: new Map(),
    components: new Map(),
    events: new Map(),
    agents: createLastChanges(),
    kubelets: createLastChanges(),
    kubeletLeases: createLastChanges(),
    jobs: createJobTracker(options),
    maintenance: createMaintenanceTracker(),
    emit: (machine, topics, silentMs) => {
      if (topics.length === 0) return;
      const change = { machine, topics, ...(silentMs !== undefined && { silentMs }) };
      for (const listener of listeners) listener(change);
    },
    eventsSinceMs: undefined,
  };
  const closes = [
    ...followNodes(tracked),
    ...followLeases(tracked),
    followEvents(tracked),
    followJobs(tracked),
    ...followMaintenance(tracked),
  ];
  return {
    snapshot: (machine) => takeSnapshot(tracked, machine),
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      for (const close of closes) close();
    },
  };
}

function takeSnapshot(tracked: Tracked, machine: string): NodeSnapshot {
  const { views, readTime, maxViewAgeMs, agents, kubelets, kubeletLeases, jobs } = tracked;
  const point = readTime();
  const freshness = views.events.reflector.freshness();
  if (freshness.synced) tracked.eventsSinceMs ??= point.ms;
  return {
    point,
    problems: viewProblems(views, maxViewAgeMs),
    machine: views.machines.store.get(machine),
    node: views.nodes.store.get(machine),
    conditions: tracked.conditions.get(machine),
    agentAgeMs: agents.ageMs(machine, point),
    kubeletAgeMs: Math.min(kubelets.ageMs(machine, point), kubeletLeases.ageMs(machine, point)),
    jobs: jobs.of(machine),
    maintenance: tracked.maintenance.of(machine),
    jobEndedMs: jobs.endedMs(machine),
    components: tracked.components.get(machine),
    events: tracked.events.get(machine),
    eventsSinceMs: tracked.eventsSinceMs ?? point.ms,
    eventsAgeMs: freshness.ageMs,
    versionOf: (ref) => views.components?.store.get(ref)?.spec.version,
  };
}

function followNodes(tracked: Tracked): readonly (() => void)[] {
  const { machines, nodes } = tracked.views;
  const { emit } = tracked;
  return [
    machines.store.subscribe({
      added: (machine) => {
        const { name } = machine.metadata;
        observeReports(tracked, name);
        emitAll(tracked, name);
      },
      updated: (machine, before) => {
        const { name } = machine.metadata;
        observeReports(tracked, name);
        emit(name, [...observeBoth(tracked, name), ...machineChanges(before, machine)]);
      },
      removed: ({ metadata: { name } }) => {
        tracked.components.delete(name);
        tracked.agents.forget(name);
        emitAll(tracked, name);
      },
    }),
    nodes.store.subscribe({
      added: (node) => {
        observeKubelet(tracked, node);
        emitAll(tracked, node.metadata.name);
      },
      updated: (node, before) => {
        observeKubelet(tracked, node);
        emit(node.metadata.name, [...observeBoth(tracked, node.metadata.name), ...nodeChanges(before, node)]);
      },
      removed: ({ metadata: { name } }) => {
        tracked.kubelets.forget(name);
        tracked.kubeletLeases.forget(name);
        tracked.events.delete(name);
        emitAll(tracked, name);
      },
    }),
  ];
}

function emitAll(tracked: Tracked, name: string): void {
  observeBoth(tracked, name);
  tracked.emit(name, ALL_TOPICS);
}

/** Returns the topics that changed. What is the same but was written again is reported at once. */
function observeBoth(tracked: Tracked, name: string): readonly string[] {
  const { views, conditions, readTime, emit, startsAtTransition } = tracked;
  const machine = views.machines.store.get(name);
  const node = views.nodes.store.get(name);
  if (!machine && !node) {
    conditions.delete(name);
    return ['condition'];
  }
  const before = conditions.get(name);
  const after = observeConditions(
    before,
    {
      nodeUID: node?.metadata.uid,
      bootID: textAt(node, 'status', 'nodeInfo', 'bootID'),
      node: listAt(node, 'status', 'conditions'),
      machine: listAt(machine, 'status', 'conditions'),
      faults: machine && listAt(machine, 'status', 'faults'),
      startsAtTransition,
    },
    readTime(),
  );
  conditions.set(name, after);
  const { values, heartbeats, silentMs } = conditionChanges(before, after);
  emit(name, heartbeats, silentMs);
  return values;
}

function observeReports({ views, components, readTime }: Tracked, name: string): void {
  const reports = listAt(views.machines.store.get(name), 'status', 'components');
  components.set(name, observeComponents(components.get(name), reports, readTime()));
}

function observeKubelet(tracked: Tracked, node: KubeObject): void {
  const { name } = node.metadata;
  emitSign(tracked, name, tracked.kubelets.observe(name, kubeletHeartbeat(node), tracked.readTime()));
}

function emitSign({ emit }: Tracked, name: string, silentMs: number | undefined): void {
  if (silentMs !== undefined) emit(name, ['condition', 'node'], silentMs);
}

function followLeases(tracked: Tracked): readonly (() => void)[] {
  const { agentLeases, nodeLeases } = tracked.views;
  const observeAgent = ({ metadata: { name, namespace }, ...lease }: KubeObject): void => {
    if (namespace !== NAMESPACE_AGENTS) return;
    const silentMs = tracked.agents.observe(name, textAt(lease, 'spec', 'renewTime'), tracked.readTime());
    if (silentMs !== undefined) tracked.emit(name, AGENT_TOPICS, silentMs);
  };
  const observeNode = ({ metadata: { name, namespace }, ...lease }: KubeObject): void => {
    if (namespace !== NAMESPACE_OF_NODE_LEASES) return;
    const renewed = textAt(lease, 'spec', 'renewTime');
    emitSign(tracked, name, tracked.kubeletLeases.observe(name, renewed, tracked.readTime()));
  };
  return [
    agentLeases.store.subscribe({ added: observeAgent, updated: observeAgent }),
    ...(nodeLeases ? [nodeLeases.store.subscribe({ added: observeNode, updated: observeNode })] : []),
  ];
}

function followEvents(tracked: Tracked): () => void {
  const { views, events, readTime, emit } = tracked;
  const count = (event: KubeObject, before?: KubeObject): void => {
    const name = nodeOfEvent(event, views.nodes);
    if (name === undefined) return;
    events.set(name, countEvent(events.get(name), event, before, readTime()));
    emit(name, [topic('event', textAt(event, 'reason') ?? '')]);
  };
  return views.events.store.subscribe({ added: (event) => count(event), updated: count });
}

function followJobs({ views, jobs, emit }: Tracked): () => void {
  const changed = (job: RemedyOperationJob, hasEnded: boolean): void =>
    emit(job.spec.machine.name, hasEnded ? ['history', 'condition'] : ['history']);
  return views.jobs.store.subscribe({
    added: (job) => changed(job, jobs.put(job, undefined)),
    updated: (job, before) => changed(job, jobs.put(job, before)),
    removed: (job) => {
      jobs.remove(job);
      changed(job, false);
    },
  });
}

function followMaintenance({ views, maintenance, emit }: Tracked): readonly (() => void)[] {
  const changed = ({ spec }: MaintenanceEvent): void => emit(spec.machine, ['maintenance']);
  const put = (event: MaintenanceEvent): void => {
    maintenance.put(event);
    changed(event);
  };
  const removed = (event: MaintenanceEvent): void => {
    maintenance.remove(event);
    changed(event);
  };
  return views.maintenance ? [views.maintenance.store.subscribe({ added: put, updated: put, removed })] : [];
}
