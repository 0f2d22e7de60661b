/** Runs `kubenode hosting`: creates and destroys the control planes of the Clusters of a hub on this machine. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import { GROUP, HOSTING_LEASE, MANAGER_HOSTING, NAMESPACE, PRINCIPAL_HOSTING } from '../../../api/names.ts';
import { createClusterAddons } from '../../../controllers/hosting/addons/addons.ts';
import { createHostingController } from '../../../controllers/hosting/controller.ts';
import { createProcessDriver } from '../../../controllers/hosting/drivers/process/driver.ts';
import { createWorkloadDriver } from '../../../controllers/hosting/drivers/workload/driver.ts';
import { createClusterInside } from '../../../controllers/hosting/inside/execute.ts';
import { registerBackupMetrics, registerCertificateMetrics } from '../../../controllers/hosting/metrics.ts';
import type { HostingPorts } from '../../../controllers/hosting/observe.ts';
import { createCallWindow } from '../../../defender/facts/call-window.ts';
import { createView, type View } from '../../../kube/cache/view.ts';
import type { Client } from '../../../kube/client/client.ts';
import { type ConnectOptions, connect } from '../../../kube/client/connect.ts';
import { runControllers } from '../../../kube/controller/run.ts';
import { createLeaseElection } from '../../../kube/leader/election.ts';
import { createFencedElection } from '../../../kube/leader/term-fence.ts';
import { SECRETS } from '../../../kube/objects/core-kinds.ts';
import type { Log } from '../../../kube/process/log.ts';
import { createLoopDelay } from '../../../kube/process/loop-delay.ts';
import { createMetrics } from '../../../kube/process/metrics.ts';
import { createRuntimeMetrics, type RuntimeMetrics } from '../../../kube/process/metrics-runtime.ts';
import { createLayout } from '../../../local/layout.ts';
import { registerBuildInfo } from '../../../observability/metrics/process.ts';
import { systemRandom } from '../../../os/system-random.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { openHubDefender } from '../../hosting/defender.ts';
import { hostingFolder } from '../../hosting/folder.ts';
import { readWorkloadImages } from '../../hosting/images.ts';
import { balancerCommand, controllersCommand, loadPrograms } from '../../hosting/programs.ts';
import type { Io } from '../../io.ts';
import { endMachinesIn } from '../../local/machines-folder.ts';
import { addLogOptions, createCommandLog, type LogFlags } from '../../log-options.ts';
import { createDurationOption, createIntegerParser } from '../../option-parsers.ts';
import { connectOptionsFor } from '../../principal.ts';
import { KUBENODE_VERSION } from '../../version.ts';
import { createBackupStepsCommand } from './backup.ts';
import { createSnapshotCommand } from './snapshot.ts';

const HELP = `
Run it beside a hub. A Cluster with spec.hosted.driver: process becomes a control plane on this machine: etcd, kube-apiserver,
kube-controller-manager, kube-scheduler and our own controllers as processes, in a folder of their own below --dir. Sync gets its
kubeconfig as Secret NAME-kubeconfig in kubenode-system of the hub. Deleting the Cluster removes all of it.

The processes outlive this one: it can be killed at any time, and finds them again. It acts as the user kubenode-hosting.
It needs no root and no container runtime. docs/guides/hosted-clusters.md shows how to use it.

With --local-machines a MachineSet of provider local gets its machines in the folder of its control plane: a throw-away cluster with nodes.

With --images FILE a Cluster with spec.hosted.driver: workload becomes a control plane of pods in the hub, in the namespace kn-NAME. The
file names the images by digest. With --no-processes this hosting starts no process of its own: so it runs as a pod of the hub.

Examples:
  kubenode hosting --context hub
  kubenode hosting --images images.yaml --no-processes
  kubenode hosting --context hub --local-machines
  kubenode hosting --context hub --dir /var/lib/kubenode/hosting --port 8081
  kubenode hosting --context hub --kube-assets /opt/kubernetes/v1.35.4 --kube-assets /opt/kubernetes/v1.36.3`;

interface Flags extends ConnectionFlags, LogFlags {
  readonly dir: string;
  readonly kubeAssets: readonly string[];
  readonly maxClusters: number;
  readonly localMachines?: boolean;
  readonly images?: string;
  readonly processes: boolean;
  /** In seconds. By default the longest ttlSecondsAfterReady, and a day to become ready. */
  readonly maxAge: number;
  readonly port?: number;
  readonly host: string;
}

export function createHostingCommand(io: Io): Command {
  const command = new Command('hosting')
    .description('create and destroy control planes on this machine, for the Clusters of a hub')
    .option('--dir <folder>', 'folder of the control planes', hostingFolder(io))
    .option(
      '--kube-assets <folder>',
      'folder with the programs of one version of Kubernetes; repeat it for each version',
      (folder: string, before: readonly string[]) => [...before, folder],
      [],
    )
    .option('--images <file>', 'images of control planes of driver workload, by digest')
    .option('--no-processes', 'create no control planes of driver process')
    .option('--local-machines', 'their controllers create machines of provider local on this machine')
    .option(
      '--max-clusters <n>',
      'how many control planes are created at most',
      createIntegerParser(0, 1000),
      20,
    )
    .addOption(
      createDurationOption(
        '--max-age <duration>',
        'how long a throw-away cluster may exist, ready or not',
        '8d',
      ),
    )
    .option(
      '--port <n>',
      'port for /healthz, /readyz and /metrics; 0 selects a free port',
      createIntegerParser(0, 65_535),
    )
    .option('--host <address>', 'address for --port to listen on', '127.0.0.1')
    .addCommand(createSnapshotCommand(io))
    .addCommand(createBackupStepsCommand(io))
    .addHelpText('after', HELP);
  return addConnectionOptions(addLogOptions(command)).action((flags: Flags) => hosting(io, flags));
}

async function hosting(io: Io, flags: Flags): Promise<void> {
  const { clock, signal } = io;
  const log = createCommandLog(io, flags, { write: (line) => io.err(line) });
  const metrics = createMetrics();
  const runtime = createRuntimeMetrics(metrics, createLoopDelay());
  registerBuildInfo(metrics, { process: 'hosting', version: KUBENODE_VERSION });
  const calls = createCallWindow(clock);
  const connection: ConnectOptions = {
    ...(await connectOptionsFor(io, flags, PRINCIPAL_HOSTING)),
    onCall: (report) => {
      runtime.call(report);
      calls.add(report);
    },
  };
  const client = await connect(connection);
  const identity = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const shared = { clock, log, random: systemRandom };
  const settings = { ...shared, client, identity, name: HOSTING_LEASE, metrics: runtime.lease };
  const { election, fence } = createFencedElection(createLeaseElection(settings));
  // A driver writes into the hub itself, and not by the context of a reconcile: its writes need the Lease all the same.
  const fenced = await connect({ ...connection, fence });
  const { clusters, secrets } = createHubViews(io, { client, log, runtime });
  registerCertificateMetrics(metrics, () => clusters.store.list());
  registerBackupMetrics(metrics, () => clusters.store.list());
  const asking = {
    ...shared,
    connection,
    calls,
    clusters,
    managers: [MANAGER_HOSTING],
    watch: runtime.watch,
  };
  const defender = await openHubDefender(asking);
  const ports = { ...portsOf(io, flags, log), ...(await workloadPorts(io, flags, fenced)) };
  const { host, port } = flags;
  const listening = (url: string): void => log.info('health server started', { url });
  try {
    await runControllers(
      {
        ...shared,
        controllers: [createHostingController({ ...ports, grants: defender.ledger })],
        views: { ...defender.views, [CLUSTERS.kind]: clusters, [SECRETS.kind]: secrets },
        connect: (principal) => connect({ ...connection, ...principal }),
        reporter: { domain: GROUP, instance: identity },
        lease: election,
        metrics,
        runtime,
        ...(port === undefined ? {} : { health: { port, host, listening } }),
      },
      signal,
    );
  } finally {
    await Promise.all([client.close(), fenced.close(), defender.close()]);
  }
}

function portsOf(
  io: Io,
  { dir, kubeAssets, maxClusters, maxAge, processes, localMachines = false }: Flags,
  log: Log,
): Omit<HostingPorts, 'grants'> {
  const { clock } = io;
  const onStep = (step: string): void => log.info('programs of the control plane', { step });
  const driver = createProcessDriver({
    dir: resolve(io.cwd, dir),
    machine: hostname(),
    clock,
    programs: () => loadPrograms(io, kubeAssets, onStep),
    controllers: controllersCommand(localMachines),
    balancer: balancerCommand,
    endMachines: (root) => endMachinesIn(createLayout(root), clock),
    version: KUBENODE_VERSION,
  });
  return {
    ...(processes ? { driver } : {}),
    inside: createClusterInside(clock),
    addons: createClusterAddons(clock),
    maxClusters,
    maxAgeSeconds: maxAge,
  };
}

/** A file that is wrong ends the start. Later, the control planes that exist are served, and none is created. */
async function workloadPorts(
  { clock, cwd }: Io,
  { images }: Flags,
  client: Client,
): Promise<Pick<HostingPorts, 'workload'>> {
  if (images === undefined) return {};
  const path = resolve(cwd, images);
  await readWorkloadImages(path);
  return { workload: createWorkloadDriver({ client, clock, images: () => readWorkloadImages(path) }) };
}

interface ViewParts {
  readonly client: Client;
  readonly log: Log;
  readonly runtime: RuntimeMetrics;
}

/** The policies and the ledger are read by the Defender. */
function createHubViews(
  { clock }: Io,
  { client, log, runtime }: ViewParts,
): { readonly clusters: View<Cluster>; readonly secrets: View } {
  const shared = {
    client,
    clock,
    log,
    random: systemRandom,
    metrics: runtime.watch,
    managers: [MANAGER_HOSTING],
  };
  return {
    clusters: createView<Cluster>({ ...shared, resource: CLUSTERS }),
    secrets: createView({ ...shared, resource: SECRETS, namespace: NAMESPACE }),
  };
}
