/** One node and its machine, both named `n`, with LiveFacts over real stores and a clock that the test advances. */
import type { MachineStatus, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { NAMESPACE_AGENTS } from '../../../src/api/names.ts';
import { createStore, type WritableStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { optional } from '../../../src/kube/objects/optional.ts';
import { FACT_KINDS } from '../../../src/rules/catalog.ts';
import type { FactRef, MaxAge, Reading } from '../../../src/rules/compiled-rule.ts';
import type { FactChange } from '../../../src/rules/live/fact-changes.ts';
import {
  createLiveFacts,
  type LiveFacts,
  type LiveFactsOptions,
} from '../../../src/rules/live/live-facts.ts';
import type { MetricReader } from '../../../src/rules/live/metric-reader.ts';
import type { WorkloadReader } from '../../../src/rules/live/workload-reader.ts';
import {
  createFactViews,
  FACT_VIEW_NAMES,
  type FactView,
  type FactViewName,
  mapFactViews,
} from '../../../src/rules/views.ts';
import { type MachineParts, machine, node } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

export const NODE_UID = 'uid-1';

type Status = 'True' | 'False' | 'Unknown';

/** `True` or, with its other fields, `{status: 'True', reason: 'A'}`. */
export type ConditionText = Status | Readonly<Record<string, string>>;

export interface FactsBed {
  readonly clock: VirtualClock;
  /** Since the start of the process, without those of its initial state. */
  readonly changes: FactChange[];
  /** Of this process: `restart` replaces it. */
  live(): LiveFacts;
  /** The state of the Node; heartbeats of all its conditions are now. */
  node(conditions: Readonly<Record<string, ConditionText>>, fields?: NodeFields): void;
  deleteNode(): void;
  machine(parts?: MachineParts): void;
  heartbeat(): void;
  renewNodeLease(): void;
  event(name: string, fields: Readonly<Record<string, unknown>>): void;
  deleteEvent(name: string): void;
  job(job: RemedyOperationJob): void;
  component(ref: string, version: string): void;
  /** An object of any view, as it is from now on. */
  put(view: FactViewName, object: KubeObject): void;
  remove(view: FactViewName, object: KubeObject): void;
  read(fact: string, params?: FactRef['params'], maxAge?: MaxAge): Reading;
  why(fact: string, params?: FactRef['params'], maxAge?: MaxAge): string | undefined;
  /** A new process: it lists everything and has observed nothing. */
  restart(): void;
  /** The API server does not answer any more for this kind; undefined: it does. */
  silence(view: FactViewName, ageMs: number | undefined): void;
  /** Every read of this view throws. */
  breakView(view: FactViewName): void;
  /** What the wall clock of this machine is ahead of the API server. */
  skewSeconds: number;
  /** Why the views do not have all nodes: for the next process. */
  fleetProblem: string | undefined;
  /** Reads Pods for the next process. */
  workloads: WorkloadReader | undefined;
  /** Asks Prometheus for the next process. */
  metrics: MetricReader | undefined;
}

export interface NodeFields {
  readonly uid?: string;
  readonly bootID?: string;
  /** Without: now. */
  readonly heartbeat?: string;
  readonly more?: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, string>>;
}

type Stores = Readonly<Record<FactViewName, WritableStore>>;

function createStores(): Stores {
  const stores = mapFactViews(() => createStore({ log: memoryLog() }));
  for (const view of FACT_VIEW_NAMES) stores[view].replace([], '1');
  return stores;
}

export function factsBed(): FactsBed {
  const clock = virtualClock();
  const silent = new Map<FactViewName, number>();
  const broken = new Set<FactViewName>();
  const changes: FactChange[] = [];
  let version = 1;
  let stores = createStores();
  let live = start({});

  const bed: FactsBed = {
    clock,
    changes,
    skewSeconds: 0,
    fleetProblem: undefined,
    workloads: undefined,
    metrics: undefined,
    live: () => live,
    node: (conditions, fields) => put('nodes', nodeObject(conditions, clock.now(), fields)),
    deleteNode: () => remove('nodes', { ...node('n'), metadata: { name: 'n' } }),
    machine: (parts) => put('machines', machine('n', parts)),
    heartbeat: () => put('agentLeases', lease(NAMESPACE_AGENTS, clock.now())),
    renewNodeLease: () => put('nodeLeases', lease('kube-node-lease', clock.now())),
    event: (name, fields) => put('events', eventObject(name, fields)),
    deleteEvent: (name) => remove('events', eventObject(name, {})),
    job: (job) => put('jobs', job),
    component: (ref, its) =>
      put('components', {
        apiVersion: 'kubenode.dev/v1alpha1',
        kind: 'MachineComponent',
        metadata: { name: ref },
        spec: { version: its },
      }),
    put,
    remove,
    read: (fact, params = {}, maxAge = ageOf(fact)) =>
      live.read('n', new Map([[fact, maxAge]]))(refOf(fact, params)),
    why: (fact, params = {}, maxAge = ageOf(fact)) =>
      live.unknownReason('n', refOf(fact, params), new Map([[fact, maxAge]])),
    restart: () => {
      live.close();
      const present = stores;
      stores = createStores();
      for (const view of FACT_VIEW_NAMES) stores[view].replace(present[view].list(), String(version));
      live = start({
        ...optional('fleetProblem', bed.fleetProblem),
        ...optional('workloads', bed.workloads),
        ...optional('metrics', bed.metrics),
      });
    },
    silence: (view, ageMs) => {
      if (ageMs === undefined) silent.delete(view);
      else silent.set(view, ageMs);
    },
    breakView: (view) => void broken.add(view),
  };
  return bed;

  function next(): string {
    version += 1;
    return String(version);
  }

  function put(view: FactViewName, object: KubeObject): void {
    stores[view].put({ ...object, metadata: { ...object.metadata, resourceVersion: next() } });
  }

  function remove(view: FactViewName, object: KubeObject): void {
    stores[view].remove({ ...object, metadata: { ...object.metadata, resourceVersion: next() } });
  }

  function start(more: Pick<LiveFactsOptions, 'fleetProblem' | 'metrics' | 'workloads'>): LiveFacts {
    const views = createFactViews((_, view) => viewOf(view));
    const started = createLiveFacts({
      views,
      clock,
      skewSeconds: () => bed.skewSeconds,
      ...more,
    });
    started.onChange((change) => changes.push(change));
    return started;
  }

  function viewOf(view: FactViewName): FactView {
    const of = (): WritableStore => {
      if (broken.has(view)) throw new Error(`${view} cannot be read`);
      return stores[view];
    };
    const store = {
      get: (name: string) => of().get(name),
      list: () => of().list(),
      subscribe: (handler: Parameters<WritableStore['subscribe']>[0]) => of().subscribe(handler),
    };
    const freshness = (): ReturnType<FactView['reflector']['freshness']> => {
      const ageMs = silent.get(view) ?? 0;
      return { synced: ageMs !== Infinity, ageMs, lastContactAt: undefined, error: undefined };
    };
    // What the facts do not call is not there.
    return { store: store as unknown as FactView['store'], reflector: { freshness } };
  }
}

/** The machine with this report of its agent, which is alive. */
export function reporting(status: Partial<MachineStatus>): FactsBed {
  const bed = factsBed();
  bed.machine({ status });
  bed.heartbeat();
  return bed;
}

/** A part of the report of an agent with another type than its schema has. */
export function lying(value: unknown): never {
  return value as never;
}

function ageOf(fact: string): MaxAge {
  return FACT_KINDS.get(fact)?.maxAge ?? 'OurWatch';
}

export function refOf(fact: string, params: FactRef['params'] = {}): FactRef {
  return { fact, params, key: `${fact}${JSON.stringify(params)}` };
}

function nodeObject(
  conditions: Readonly<Record<string, ConditionText>>,
  now: Date,
  { uid = NODE_UID, bootID = 'boot-1', heartbeat, more = {}, labels = {} }: NodeFields = {},
): KubeObject {
  const lastHeartbeatTime = heartbeat ?? now.toISOString();
  const all = Object.entries(conditions).map(([type, text]) => ({
    type,
    lastHeartbeatTime,
    lastTransitionTime: lastHeartbeatTime,
    ...(typeof text === 'string' ? { status: text } : text),
  }));
  const nodeInfo = { bootID, architecture: 'amd64', kernelVersion: '6.8.0', kubeletVersion: 'v1.34.2' };
  return {
    ...node('n', 'True', { uid, labels, creationTimestamp: '2030-01-01T00:00:00Z' }),
    spec: {},
    ...more,
    status: { nodeInfo, conditions: all },
  };
}

function lease(namespace: string, now: Date): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'n', namespace },
    spec: { renewTime: now.toISOString() },
  };
}

function eventObject(name: string, fields: Readonly<Record<string, unknown>>): KubeObject {
  const involvedObject = { kind: 'Node', name: 'n', uid: 'n' };
  return { apiVersion: 'v1', kind: 'Event', metadata: { name }, involvedObject, ...fields };
}

/** A job of machine `n` whose steps have these names and states. */
export function repairJob(
  name: string,
  steps: readonly (readonly [step: string, startedAt: string | undefined])[],
  status: Readonly<Record<string, unknown>> = {},
): RemedyOperationJob {
  const plan = steps.map(([step], index) => ({ id: `s${index + 1}`, step: `${step}@v1` }));
  const states = steps.map(([, startedAt], index) => ({
    id: `s${index + 1}`,
    state: startedAt === undefined ? 'Pending' : 'Succeeded',
    ...(startedAt !== undefined && { startedAt }),
  }));
  const { uid } = machine('n').metadata;
  return lying({
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'RemedyOperationJob',
    metadata: { name },
    spec: { machine: { name: 'n', uid }, plan },
    status: { steps: states, ...status },
  });
}
