/** Controllers that belong together, as `kubenode controllers` creates them. */

import type { GrantPort } from '../api/grants.ts';
import type { Endpoint } from '../kube/auth/config.ts';
import type { Client } from '../kube/client/client.ts';
import type { Controller } from '../kube/controller/controller.ts';
import type { Views } from '../kube/controller/views.ts';
import type { Log } from '../kube/process/log.ts';
import type { Metrics } from '../kube/process/metrics.ts';
import type { WatchMetrics } from '../kube/process/metrics-runtime.ts';
import type { Prometheus } from '../observability/query/client.ts';
import type { TraceExporter } from '../observability/trace/otlp/exporter.ts';
import type { Clock } from '../os/clock.ts';
import type { EventAnswers } from '../providers/event-answers.ts';
import type { PowerSwitches } from '../providers/power.ts';
import type { OpenProviders } from '../providers/registry.ts';
import type { CheckRunner } from '../rollout/checks/runner.ts';
import type { ManagementCluster } from './following/clusterapi/management.ts';
import type { NodeGroupSelector } from './following/nodegroup/selector.ts';
import type { ImportParts } from './machine/import/execute/steps.ts';
import type { InstanceParts } from './machine/instance/calls.ts';
import type { Notifications } from './notifier/controller.ts';

export interface ControllerGroup {
  readonly controllers: readonly Controller[];
  /** The views by kind, of kinds that are in no other group. Those of the Defender are shared: Machines, Nodes and more. */
  readonly views: Views;
  /** The providers of machines that it opened. */
  readonly providers?: OpenProviders;
}

export interface GroupParts {
  /** A client with the rights of this account. It is closed when the process ends. */
  readonly connectAs: (account: string) => Promise<Client>;
  /** A client with the rights of this account for one API server among several; the caller closes it. */
  readonly connectTo: (account: string, endpoint: Endpoint) => Promise<Client>;
  /** The views of the Defender and of the groups before this one. */
  readonly views: Views;
  /** The providers that the groups before this one opened. */
  readonly providers: OpenProviders;
  /** The Defender of this process. */
  readonly grants: GrantPort;
  /** The providers of machines, with a client of kubenode-machine. */
  readonly openInstances: (
    client: Client,
    imports: ImportParts | undefined,
  ) => Promise<InstanceParts | undefined>;
  /** Opens the port that imports hosts over SSH, with a client of kubenode-machine. */
  readonly openImports: (client: Client) => Promise<ImportParts | undefined>;
  /** The power switches of machines. Those of providers exist once `openInstances` has resolved. */
  readonly power: PowerSwitches;
  readonly eventAnswers: EventAnswers;
  /** Asked by rules. */
  readonly prometheus: Prometheus;
  /** Runs the http and promql checks of component sets. */
  readonly checkRunner: CheckRunner;
  /** The folder in which hardware systems report maintenance events. */
  readonly maintenanceFolder?: string;
  /** Whether the Machines of Cluster API are followed whose Nodes are in this cluster. */
  readonly clusterApi?: boolean;
  /** Where they are; undefined: in this cluster, too. */
  readonly management?: ManagementCluster;
  /** Whether Cluster API asks this process for updates in place. */
  readonly updateExtension?: boolean;
  /** Whether the NodeClaims of Karpenter in this cluster are followed. */
  readonly externalNodes?: boolean;
  /** The labels of the Nodes of node groups in this cluster, which are followed. */
  readonly nodeGroups?: NodeGroupSelector;
  /** The receivers of what jobs hand to people. */
  readonly notifications?: Notifications;
  /** Exports the traces of repairs and rollouts. Undefined: traces are off. */
  readonly traces?: TraceExporter;
  /** Whether one metric names each machine. */
  readonly machineInfo?: boolean;
  readonly clock: Clock;
  /** The wall clock of this process minus that of the API server; undefined while the server does not answer. */
  readonly skewSeconds: () => number | undefined;
  readonly random: () => number;
  readonly log: Log;
  /** Whether this process holds the Lease. */
  readonly leads: () => boolean;
  readonly metrics: Metrics;
  readonly watch: WatchMetrics;
}

export type CreateGroup = (parts: GroupParts) => Promise<ControllerGroup>;
