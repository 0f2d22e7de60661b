/** Follows the views: keeps what a single state of an object does not tell, and reports which facts changed. */
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ComponentHistories, observeComponents } from '../clocks/component-clock.ts';
import { type ConditionHistory, observeConditions } from '../clocks/condition-clock.ts';
import { countEvent, type EventCounts } from '../clocks/event-counts.ts';
import { createJobEnds, type JobEnds } from '../clocks/job-ends.ts';
import { createLastChanges, type LastChanges } from '../clocks/last-change.ts';
import type { ReadTime } from '../clocks/time-point.ts';
import { metricFact } from '../facts/metric.ts';
import type { KnownWorkload, MachineObjects, NodeSnapshot } from '../facts/reading/snapshot.ts';
import { workloadFact } from '../facts/workload.ts';
import { FACT_VIEWS, type FactViews, type LeaseView } from '../views.ts';
import { type AffectedMachines, createAffectedMachines } from './affected-machines.ts';
import {
  ALL_TOPICS,
  conditionChanges,
  type FactChange,
  parameterTopic,
  topicsChanged,
  topicsHeardOf,
} from './fact-changes.ts';
import { kubeletHeartbeat, nodeOfEvent, viewProblems } from './fact-views.ts';
import { followMachineObjects } from './machine-objects.ts';
import type { MetricReader } from './metric-reader.ts';
import { createPeerSigns, type PeerSigns } from './peer-signs.ts';
import { READ_AGAIN_MS, type WorkloadReader } from './workload-reader.ts';

export interface FactTracker {
  /** Pods are read in the background for a snapshot that `asks`. */
  snapshot(machine: string, asks: boolean): NodeSnapshot;
  onChange(listener: (change: FactChange) => void): () => void;
  close(): void;
}

export interface FactTrackerOptions {
  readonly views: FactViews;
  readonly readTime: ReadTime;
  readonly maxViewAgeMs: number | undefined;
  /** True for a command that reads once and so trusts the writer of a condition: see `ConditionSources`. */
  readonly startsAtTransition: boolean;
  /** Why the views do not have all nodes; undefined when they have. */
  readonly fleetProblem: string | undefined;
  /** Reads Pods; undefined where they are not read. */
  readonly workloads: WorkloadReader | undefined;
  /** Asks Prometheus; undefined where it is not asked. */
  readonly metrics: MetricReader | undefined;
}

interface Tracked extends FactTrackerOptions {
  readonly conditions: Map<string, ConditionHistory>;
  readonly components: Map<string, ComponentHistories>;
  readonly events: Map<string, EventCounts>;
  readonly agents: LastChanges;
  /** When each kubelet last showed that it is alive: `kubelets` by the heartbeat in the Node, `kubeletLeases` by its Lease. */
  readonly kubelets: LastChanges;
  readonly kubeletLeases: LastChanges;
  readonly jobEnds: JobEnds;
  readonly peers: PeerSigns;
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
    jobEnds: createJobEnds(),
    peers: createPeerSigns(options.views),
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
    followJobEnds(tracked),
  ];
  const objects = followMachineObjects(tracked.views, tracked.emit);
  const affected = createAffectedMachines(tracked.views, objects.of);
  const closeWorkloads = tracked.workloads?.onChange((node) => tracked.emit(node, [workloadFact.name]));
  const closeMetrics = tracked.metrics?.onChange((machine, query) =>
    tracked.emit(machine, [parameterTopic(metricFact.name, query)]),
  );
  closes.push(objects.close, affected.close, () => {
    closeWorkloads?.();
    tracked.workloads?.close();
    closeMetrics?.();
    tracked.metrics?.close();
  });
  return {
    snapshot: (machine, asks) =>
      takeSnapshot(tracked, { objects: objects.of(machine), affected, asks }, machine),
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      for (const close of closes) close();
    },
  };
}

interface Followed {
  readonly objects: MachineObjects;
  readonly affected: AffectedMachines;
  readonly asks: boolean;
}

function takeSnapshot(
  tracked: Tracked,
  { objects, affected, asks }: Followed,
  machine: string,
): NodeSnapshot {
  const { views, readTime, maxViewAgeMs, agents, kubelets, kubeletLeases } = tracked;
  const point = readTime();
  const freshness = views.events.reflector.freshness();
  if (freshness.synced) tracked.eventsSinceMs ??= point.ms;
  const kubeletAgeMs = (name: string): number =>
    Math.min(kubelets.ageMs(name, point), kubeletLeases.ageMs(name, point));
  return {
    point,
    problems: viewProblems(views, maxViewAgeMs),
    machine: views.machines.store.get(machine),
    node: views.nodes.store.get(machine),
    conditions: tracked.conditions.get(machine),
    agentAgeMs: agents.ageMs(machine, point),
    kubeletAgeMs: kubeletAgeMs(machine),
    peers: () =>
      tracked.peers.read(
        machine,
        (peer) => Math.min(agents.ageMs(peer, point), kubeletAgeMs(peer)),
        point.ms,
      ),
    workload: () => ({ known: workloadOf(tracked.workloads, machine, asks), againMs: READ_AGAIN_MS }),
    metric: (query) => tracked.metrics?.ask(query, machine) ?? 'Prometheus is not asked here',
    fleetProblem: tracked.fleetProblem,
    affected: (query) => affected.count(machine, query, point),
    objects,
    find: (view, name) => views[view].store.get(name),
    jobEndedMs: tracked.jobEnds.endedMs(machine),
    components: tracked.components.get(machine),
    events: tracked.events.get(machine),
    eventsSinceMs: tracked.eventsSinceMs ?? point.ms,
    viewAgeMs: (view) => views[view].reflector.freshness().ageMs,
  };
}

function workloadOf(
  workloads: WorkloadReader | undefined,
  machine: string,
  asks: boolean,
): KnownWorkload | string {
  if (!workloads) return 'Pods are not read here';
  const known = asks ? workloads.ask(machine) : workloads.peek(machine);
  return known ?? 'the Pods of the node were not read yet';
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
        emit(name, [...observeBoth(tracked, name), ...topicsChanged('machines', before, machine)]);
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
        const { name } = node.metadata;
        emit(name, [...observeBoth(tracked, name), ...topicsChanged('nodes', before, node)]);
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

const AGENT_TOPICS = topicsHeardOf('Agent');
const KUBELET_TOPICS = topicsHeardOf('Kubelet');

function emitSign({ emit }: Tracked, name: string, silentMs: number | undefined): void {
  if (silentMs !== undefined) emit(name, KUBELET_TOPICS, silentMs);
}

function followLeases(tracked: Tracked): readonly (() => void)[] {
  const { agents, kubeletLeases, readTime, emit } = tracked;
  return [
    followRenewals(tracked, 'agentLeases', (name, renewed) => {
      const silentMs = agents.observe(name, renewed, readTime());
      if (silentMs !== undefined) emit(name, AGENT_TOPICS, silentMs);
    }),
    followRenewals(tracked, 'nodeLeases', (name, renewed) =>
      emitSign(tracked, name, kubeletLeases.observe(name, renewed, readTime())),
    ),
  ];
}

function followRenewals(
  { views }: Tracked,
  view: LeaseView,
  renew: (name: string, time: string | undefined) => void,
): () => void {
  const observe = ({ metadata: { name, namespace }, ...lease }: KubeObject): void => {
    // A view may hold the Leases of other namespaces, too.
    if (namespace === FACT_VIEWS[view].selection?.namespace) renew(name, textAt(lease, 'spec', 'renewTime'));
  };
  return views[view].store.subscribe({ added: observe, updated: observe });
}

function followEvents(tracked: Tracked): () => void {
  const { views, events, readTime, emit } = tracked;
  const count = (event: KubeObject, before?: KubeObject): void => {
    const name = nodeOfEvent(event, views.nodes);
    if (name === undefined) return;
    events.set(name, countEvent(events.get(name), event, before, readTime()));
    emit(name, topicsChanged('events', before, event));
  };
  return views.events.store.subscribe({ added: (event) => count(event), updated: count });
}

/** Subscribes before the objects of machines do, so that the end of a job is known when its change is reported. */
function followJobEnds({ views, jobEnds, readTime }: Tracked): () => void {
  return views.jobs.store.subscribe({
    added: (job) => jobEnds.observe(job, undefined, readTime()),
    updated: (job, before) => jobEnds.observe(job, before, readTime()),
  });
}
