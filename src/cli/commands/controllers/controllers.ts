/** Runs `kubenode controllers`: the controllers of a cluster, in one process. Several processes may run: one leads, and the others wait. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Command } from 'commander';
import {
  CONTROLLERS_LEASE,
  GROUP,
  NAMESPACE,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_MACHINE,
} from '../../../api/names.ts';
import { allViews, createControllerGroups, MANAGERS } from '../../../controllers/controllers.ts';
import type { GroupParts } from '../../../controllers/group.ts';
import { createDefender } from '../../../defender/defender.ts';
import { createCallWindow } from '../../../defender/facts/call-window.ts';
import type { Client } from '../../../kube/client/client.ts';
import { type ConnectOptions, connect } from '../../../kube/client/connect.ts';
import { impersonateServiceAccount } from '../../../kube/controller/principals.ts';
import { runControllers } from '../../../kube/controller/run.ts';
import { createLeaseElection, type LeaseElection } from '../../../kube/leader/election.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Log } from '../../../kube/process/log.ts';
import { createLoopDelay } from '../../../kube/process/loop-delay.ts';
import { createMetrics } from '../../../kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../kube/process/metrics-runtime.ts';
import { registerBuildInfo } from '../../../observability/metrics/process.ts';
import type { TraceFlags } from '../../../observability/trace/otlp/settings.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import type { Io } from '../../io.ts';
import { addLogOptions, createCommandLog, type LogFlags } from '../../log-options.ts';
import { createIntegerParser } from '../../option-parsers.ts';
import { connectOptionsFor } from '../../principal.ts';
import {
  addCheckOptions,
  type CheckFlags,
  checkRunnerOf,
  prometheusOf,
} from '../../programs/check-options.ts';
import { addTraceOptions, openTraces } from '../../programs/trace-options.ts';
import { KUBENODE_VERSION } from '../../version.ts';
import { addClusterApiOptions, type ClusterApiFlags, extensionSettings } from './cluster-api.ts';
import { serveExtension } from './extension-server.ts';
import { addHttpOptions, filesOf, type HttpFlags, startHttp } from './http.ts';
import { addHostImportOptions, type HostImportFlags, importsOpener } from './imports.ts';
import type { LateServer } from './late-server.ts';
import { addMaintenanceOptions, type MaintenanceFlags, serveMaintenance } from './maintenance.ts';
import { addManagementOptions, connectManagement, type ManagementFlags } from './management.ts';
import { addNotificationOptions, type NotificationFlags, openNotifications } from './notifications.ts';
import { powerOfInstances } from './power.ts';
import { addProviderOptions, instancesOpener, type ProviderFlags } from './providers.ts';

const HELP = `
Runs the controllers of one cluster: the Defender, which sweeps the ledger of grants and reports the state of the
DefenderPolicies; the approver of the certificates of agents and their kubelets; the one that deletes bootstrap
tokens; those of Machines, MachineSets and MachineComponentSets; those that repair machines by the rules of NodeRemediers; the
one that follows announced maintenance; and the one that checks the content of MachineComponents. Run several: one leads,
the others take over when it ends. It can be killed at any time. It acts as the user kubenode-controllers and impersonates the account of each controller: with
credentials of that user, or with those of an administrator.

With --local-machines, Machines of provider local with spec.infra.config.type sandbox or simulated get an instance on
this machine: an agent in a directory of its own, or one in memory. Without it hosts of provider local join by themselves.

Machines with spec.import are hosts that exist: they are connected to over SSH, and get the program of the agent from the
folder of --agent-programs, which npm run build:agent makes. docs/guides/import.md shows how.

With --defender-port other tools ask the Defender over HTTPS: docs/guides/http-api.md.

With --maintenance-port or --maintenance-folder the hardware systems of a data center report maintenance and faults of
machines: docs/guides/hardware-events.md.

With --cluster-api each Machine of Cluster API that has its Node in this cluster gets a Machine of kubenode, of provider
clusterapi. Where its objects are in another cluster, --cluster-api-kubeconfig and --cluster-api-cluster name it. With
--extension-port Cluster API also asks whether a change of the version, or of files, is made in place:
docs/guides/cluster-api.md.

With --external-nodes each Node that Karpenter creates gets a Machine of kubenode, of provider external. With
--external-nodes-selector each Node with these labels does, such as those of the node groups of cluster-autoscaler:
docs/guides/external-nodes.md.

With --notifications people outside of the cluster learn what repair jobs hand to them, by a webhook, Slack or PagerDuty:
docs/guides/notifications.md.

With --otlp-endpoint each repair and each rollout that has ended is a trace at an OpenTelemetry collector:
docs/guides/traces.md.

With --prometheus-url the promql checks of component sets have a result: docs/guides/rollouts.md. So have the
queries of rules: docs/concepts/rules.md. The queries of DefenderPolicies have one, too; without it such a policy denies:
docs/concepts/defender.md.

Examples:
  kubenode controllers --context test --port 8080
  kubenode controllers --local-machines hub
  kubenode controllers --defender-port 8443 --defender-cert tls.crt --defender-key tls.key`;

interface Flags
  extends CheckFlags,
    ClusterApiFlags,
    ConnectionFlags,
    HttpFlags,
    HostImportFlags,
    LogFlags,
    MaintenanceFlags,
    ManagementFlags,
    NotificationFlags,
    ProviderFlags,
    TraceFlags {
  readonly port?: number;
  readonly host: string;
  readonly machineInfo?: boolean;
}

export function createControllersCommand(io: Io): Command {
  const command = new Command('controllers')
    .description(
      'run the controllers of a cluster: the Defender, the approver of certificates, machines, rollouts',
    )
    .option(
      '--port <n>',
      'port for /healthz, /readyz and /metrics; 0 selects a free port',
      createIntegerParser(0, 65_535),
    )
    .option('--host <address>', 'address for --port to listen on', '127.0.0.1')
    .option(
      '--machine-info',
      'serve one series for each machine, with its pool and the version of its kubelet: for the dashboard of nodes',
    )
    .addHelpText('after', HELP);
  const checked = addCheckOptions(addLogOptions(command), 'component sets, rules and DefenderPolicies');
  const logged = addTraceOptions(checked, 'each repair and rollout');
  return addConnectionOptions(
    addProviderOptions(
      addHostImportOptions(
        addNotificationOptions(
          addMaintenanceOptions(addHttpOptions(addManagementOptions(addClusterApiOptions(logged)))),
        ),
      ),
    ),
  ).action((flags: Flags) => controllers(io, flags));
}

async function controllers(io: Io, flags: Flags): Promise<void> {
  const { clock, signal } = io;
  requireComplete(flags);
  const management = await connectManagement(flags, { clock });
  const notifications = await openNotifications(flags, { clock, random: systemRandom });
  const log = createCommandLog(io, flags, { write: (line) => io.err(line) });
  const metrics = createMetrics();
  const runtime = createRuntimeMetrics(metrics, createLoopDelay());
  registerBuildInfo(metrics, { process: 'controllers', version: KUBENODE_VERSION });
  const calls = createCallWindow(clock);
  const own = await connectOptionsFor(io, flags, PRINCIPAL_CONTROLLERS);
  const connection: ConnectOptions = {
    ...own,
    onCall: (report) => {
      runtime.call(report);
      calls.add(report);
    },
  };
  const openImports = importsOpener(io, flags, connection);
  const identity = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const shared = { clock, log, random: systemRandom };
  const client = await connect(connection);
  const { connectAs, connectTo, closeAll } = createAccounts(connection);
  // The reviews of HTTP callers have connections of their own, so that they never delay a write of the ledger.
  const [defenderClient, reviewClient] = await Promise.all([
    connectAs(PRINCIPAL_DEFENDER),
    connectAs(PRINCIPAL_DEFENDER),
  ]);
  const lease = watchLeading(
    createLeaseElection({ ...shared, client, identity, name: CONTROLLERS_LEASE, metrics: runtime.lease }),
  );
  const { leads } = lease;
  const prometheus = prometheusOf(io, flags);
  const common = { ...shared, leads, metrics, watch: runtime.watch, prometheus };
  const defender = createDefender({ ...common, ...DEFENDED, client: defenderClient, calls });
  const skewSeconds = (): number | undefined => calls.skewSeconds();
  const parts = {
    ...common,
    skewSeconds,
    connectAs,
    connectTo,
    ...powerOfInstances(instancesOpener(io, flags, connection), await connectAs(PRINCIPAL_MACHINE)),
    openImports,
    grants: defender.ledger,
    checkRunner: checkRunnerOf(io, flags),
    ...plainOptions(flags),
    ...optional('management', management),
    ...optional('notifications', notifications),
    ...optional('traces', openTraces(io, flags, { log, metrics, random: systemRandom })),
  };
  const groups = await createControllerGroups(parts, defender.views);
  const servers: (LateServer | undefined)[] = [];
  const views = allViews([...groups, defender]);
  try {
    const reviewed = { defender, client: reviewClient, clock, log, leads, leader: () => lease.holder() };
    servers.push(await startHttp(flags, reviewed));
    servers.push(await serveMaintenance(flags, { connectAs, clock, log, metrics }));
    servers.push(await serveExtension(flags, parts, views));
    await runControllers(
      {
        ...shared,
        controllers: [defender.controller, ...groups.flatMap((group) => group.controllers)],
        views,
        connect: (principal) => connect({ ...connection, ...principal }),
        reporter: { domain: GROUP, instance: identity },
        lease,
        metrics,
        runtime,
        ...(flags.port === undefined ? {} : { health: healthOptions(flags, flags.port, log) }),
      },
      signal,
    );
  } finally {
    await Promise.all(servers.map(async (server) => await server?.close()));
    defender.close();
    await Promise.all([client.close(), management?.client?.close(), closeAll()]);
  }
}

const DEFENDED = { managers: MANAGERS, hasRollouts: true };

/** Returns the options that the controllers take as they are. */
function plainOptions(flags: Flags): Partial<GroupParts> {
  return {
    ...optional('clusterApi', flags.clusterApi),
    updateExtension: extensionSettings(flags) !== undefined,
    ...optional('externalNodes', flags.externalNodes),
    ...optional('nodeGroups', flags.externalNodesSelector),
    ...optional('maintenanceFolder', flags.maintenanceFolder),
    ...optional('machineInfo', flags.machineInfo),
  };
}

/** Throws for options that need another one. */
function requireComplete(flags: Flags): void {
  filesOf(flags);
  extensionSettings(flags);
}

interface Accounts extends Pick<GroupParts, 'connectAs' | 'connectTo'> {
  readonly closeAll: () => Promise<unknown>;
}

function createAccounts(connection: ConnectOptions): Accounts {
  const clients: Client[] = [];
  const connectionOf = (name: string): ConnectOptions => {
    return { ...connection, impersonate: impersonateServiceAccount({ namespace: NAMESPACE, name }) };
  };
  return {
    connectAs: async (name) => {
      const connected = await connect(connectionOf(name));
      clients.push(connected);
      return connected;
    },
    connectTo: (name, endpoint) => connect({ ...connectionOf(name), endpoint }),
    closeAll: () => Promise.all(clients.map((each) => each.close())),
  };
}

function healthOptions(
  { host }: Flags,
  port: number,
  log: Log,
): { port: number; host: string; listening: (url: string) => void } {
  return { port, host, listening: (url) => log.info('health server started', { url }) };
}

/** Wraps the election so that it also tells whether its Lease is held now. */
function watchLeading(election: LeaseElection): LeaseElection & { readonly leads: () => boolean } {
  let term: Awaited<ReturnType<LeaseElection['campaign']>> | undefined;
  return {
    campaign: async (signal) => {
      term = await election.campaign(signal);
      return term;
    },
    holder: () => election.holder(),
    leads: () => term?.held() === true,
  };
}
