/** The parts of the Defender in one process: views, facts, the ledger, and the controller that sweeps it. */

import { createAuditRecord } from '../api/audit/record.ts';
import { MACHINE_INDEXERS } from '../api/diagnosis/silent-machines.ts';
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  FLEET_ALLOWANCES,
  MACHINE_SETS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../api/generated/resources.ts';
import type { Cluster } from '../api/generated/types.ts';
import { JOB_INDEXERS } from '../api/machine/jobs.ts';
import { LEDGER, MANAGER_DEFENDER } from '../api/names.ts';
import { createTransform } from '../kube/cache/trim.ts';
import { createView, type View, type ViewOptions } from '../kube/cache/view.ts';
import type { Client } from '../kube/client/client.ts';
import type { Controller } from '../kube/controller/controller.ts';
import type { Views } from '../kube/controller/views.ts';
import { LEASES } from '../kube/leader/record.ts';
import { NODES, PODS } from '../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../kube/objects/object.ts';
import { optional } from '../kube/objects/optional.ts';
import type { Log } from '../kube/process/log.ts';
import type { Metrics } from '../kube/process/metrics.ts';
import type { WatchMetrics } from '../kube/process/metrics-runtime.ts';
import type { Prometheus } from '../observability/query/client.ts';
import type { Clock } from '../os/clock.ts';
import { createAlertReader } from './alerts/alert-reader.ts';
import { createShareRequests } from './allowance/share-requests.ts';
import { createPendingApprovals, hearAsk, type PendingApprovals } from './approvals/pending.ts';
import { createActRecorder } from './audit/recorder.ts';
import { createDefenderController } from './controller/controller.ts';
import { createDenialCounts, type DenialCounts } from './controller/denial-counts.ts';
import { logDecided } from './decision-log.ts';
import type { CallWindow } from './facts/call-window.ts';
import { BLOCKING_PODS, type ObservedViews, POD_INDEXERS } from './facts/observed-views.ts';
import { createFleetObserver, type FleetObserver } from './facts/observer.ts';
import { ALL_PODS, type SignSelection } from './facts/signs/named-signs.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { createLedgerStore } from './ledger/store.ts';
import { registerDefenderMetrics } from './metrics.ts';

export interface DefenderOptions {
  /** The client that acts as kubenode-defender. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Fed by every client of this process. */
  readonly calls: CallWindow;
  /** The field managers of other controllers that read these views and apply to the same objects: their managedFields are kept. */
  readonly managers?: readonly string[];
  /** Tells whether this process holds the Lease. Without it, it only answers asks, by compare-and-swap. */
  readonly leads: () => boolean;
  /** Whether the controllers of rollouts run in this process: then the hub learns which rollouts failed. */
  readonly hasRollouts?: boolean;
  readonly watch?: WatchMetrics;
  readonly metrics?: Metrics;
  /** Asked while this process leads. Default: the queries of policies are asked by no one, and deny. */
  readonly prometheus?: Prometheus;
  /** The Clusters of a hub, in a process that asks about hosted control planes. Their view is run by that process. */
  readonly clusters?: View<Cluster>;
}

export interface Defender {
  readonly controller: Controller;
  /** The views by kind; `runControllers` runs them. */
  readonly views: Views;
  /** The views of `views` with the types of their objects. */
  readonly observed: ObservedViews;
  readonly ledger: Ledger;
  readonly observer: FleetObserver;
  readonly denials: DenialCounts;
  readonly pending: PendingApprovals;
  close(): void;
}

export function createDefender(options: DefenderOptions): Defender {
  const { client, clock, log, calls, leads, prometheus } = options;
  const views = createDefenderViews(options);
  const observed: ObservedViews = { ...views, ...optional('clusters', options.clusters) };
  const observer = createFleetObserver({
    views: observed,
    clock,
    calls,
    openSigns: (selection) => signView(options, selection),
  });
  const denials = createDenialCounts(clock);
  const pending = createPendingApprovals(clock);
  const requests = createShareRequests(clock);
  const ledger = createLedger({
    store: createLedgerStore({ client }),
    clock,
    log,
    policies: () => observer.policies(),
    facts: () => observer.facts(),
    liveGrants: () => observer.liveGrants(),
    denied: (causes) => denials.add(causes),
    decided: (decided) => {
      hearAsk(pending, decided);
      requests.heard(decided);
      logDecided(log, decided);
      reports?.decided(decided);
    },
    leads,
  });
  const recorder = createActRecorder({
    ledgers: observed.ledgers.store,
    record: createAuditRecord({ client, writer: 'defender', fieldManager: MANAGER_DEFENDER }),
    clock,
    leads,
  });
  const reports =
    options.metrics &&
    registerDefenderMetrics(
      options.metrics,
      () => ({
        policies: observer.policies(),
        facts: observer.facts(),
        ledger: observed.ledgers.store.get(LEDGER)?.spec,
        unrecorded: recorder,
        now: clock.now(),
      }),
      () => ledger.conflicts,
    );
  return {
    controller: createDefenderController({
      observer,
      ledger,
      denials,
      pending,
      requests,
      recorder,
      ...optional('hasRollouts', options.hasRollouts),
      ...optional('alerts', prometheus && createAlertReader({ prometheus, clock })),
    }),
    views: Object.fromEntries(Object.values(views).map((view) => [view.resource.kind, view])),
    observed,
    ledger,
    observer,
    denials,
    pending,
    close() {
      recorder.close();
      observer.close();
    },
  };
}

/** The view of what a policy names: the Leases of a namespace, or the Pods with a label. */
function signView(options: DefenderOptions, { kind, of }: SignSelection): View {
  const shared = viewPorts(options);
  if (kind === 'Lease') return createView({ ...shared, resource: LEASES, namespace: of });
  if (of === ALL_PODS) return createView({ ...shared, resource: PODS, ...ALL_PODS_OF_NODES });
  return createView({ ...shared, resource: PODS, labelSelector: of, ...PODS_OF_NODES });
}

const PODS_OF_NODES = {
  indexers: POD_INDEXERS,
  transform: createTransform(['spec.containers', 'spec.initContainers', 'spec.volumes']),
};

/** Where a Pod can run depends on its containers too, but not on what they run. Their environment may hold secrets. */
const DROPPED_OF_CONTAINERS = [
  'args',
  'command',
  'env',
  'image',
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'securityContext',
  'startupProbe',
  'volumeMounts',
];
const ALL_PODS_OF_NODES = {
  indexers: POD_INDEXERS,
  transform: createTransform([
    'spec.ephemeralContainers',
    'status.containerStatuses',
    'status.initContainerStatuses',
    ...DROPPED_OF_CONTAINERS.flatMap((field) => [
      `spec.containers.*.${field}`,
      `spec.initContainers.*.${field}`,
    ]),
  ]),
};

function viewPorts({
  client,
  clock,
  random,
  log,
  watch,
}: DefenderOptions): Pick<ViewOptions<KubeObject>, 'client' | 'clock' | 'random' | 'log' | 'metrics'> {
  return { client, clock, random, log, ...optional('metrics', watch) };
}

/**
 * The fields that views drop from Nodes and Machines, because nothing in this process needs images and inventories. Facts and
 * faults of Machines stay, because rules read them.
 */
const NODE_DROPS = ['status.images', 'status.volumesInUse', 'status.volumesAttached', 'status.addresses'];
const MACHINE_DROPS = ['status.drift'];

/** The managedFields that are kept from every manager: the owner of an entry of a Machine decides whether it is a pin. */
const OWNERS_OF_COMPONENTS = ['f:spec', 'f:components'];

type DefenderViews = {
  readonly [K in Exclude<keyof ObservedViews, 'clusters'>]: View & Required<ObservedViews>[K];
};

function createDefenderViews(options: DefenderOptions): DefenderViews {
  const { managers: sharing = [] } = options;
  const shared = viewPorts(options);
  const managers = [MANAGER_DEFENDER];
  return {
    machines: view(MACHINES, {
      indexers: MACHINE_INDEXERS,
      transform: createTransform(MACHINE_DROPS, sharing, OWNERS_OF_COMPONENTS),
    }),
    nodes: view(NODES, { transform: createTransform(NODE_DROPS) }),
    pods: view(PODS, { labelSelector: BLOCKING_PODS, ...PODS_OF_NODES }),
    machineSets: view(MACHINE_SETS, { managers: sharing }),
    policies: view(DEFENDER_POLICIES, { managers }),
    jobs: view(REMEDY_OPERATION_JOBS, { managers: sharing, indexers: JOB_INDEXERS }),
    ledgers: view(DEFENDER_LEDGERS, { managers }),
    allowances: view(FLEET_ALLOWANCES, { managers }),
    rules: view(NODE_REMEDIERS, { managers: sharing }),
  };

  function view<T extends KubeObject>(
    resource: Resource<T>,
    more: Partial<ViewOptions<T>> = {},
  ): View & View<T> {
    return createView<T>({ ...shared, resource, ...more });
  }
}
