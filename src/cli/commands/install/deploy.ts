/** Defines the options of `kubenode install` for running kubenode in the cluster itself, and the objects that they ask for. */
import { type Command, Option } from 'commander';
import { NAMESPACE } from '../../../api/names.ts';
import type { NodeGroupSelector } from '../../../controllers/following/nodegroup/selector.ts';
import type { MetricsMode } from '../../../deploy/metrics.ts';
import {
  CONTROLLERS,
  CONTROLLERS_WITH_MAINTENANCE,
  type DeployedProgram,
  EXTENSION_PORT,
  HOSTING,
  NOTIFICATIONS_FILE,
  SYNC,
  SYNC_WITH_WEBHOOKS,
} from '../../../deploy/programs.ts';
import type { DeploySettings } from '../../../deploy/workload.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { CliError, EXIT } from '../../errors.ts';
import {
  createIntegerParser,
  parseOtlpEndpoint,
  parsePrometheusUrl,
  parseSecretName,
} from '../../option-parsers.ts';
import { parseNodeGroupSelector } from '../../programs/node-group-option.ts';
import { KUBENODE_VERSION } from '../../version.ts';
import {
  type ConsoleInstallFlags,
  checkConsole,
  consolePrograms,
  createConsoleClustersOption,
  createConsoleIssuerOption,
  createConsoleOption,
  createConsolePrometheusOption,
} from './console.ts';
import {
  checkManagement,
  createManagementClusterOption,
  createManagementSecretOption,
  type ManagementInstallFlags,
  withManagement,
} from './management.ts';
import {
  checkExtension,
  createExtensionOption,
  type ExtensionFlags,
  extensionObjects,
} from './update-extension.ts';

export interface DeployFlags extends ExtensionFlags, ManagementInstallFlags, ConsoleInstallFlags {
  readonly hub?: true;
  readonly hosting?: true;
  /** Path of the file of images that hosting runs. */
  readonly images?: string;
  readonly webhooks?: true;
  readonly maintenance?: true;
  readonly externalNodes?: true;
  readonly externalNodesSelector?: NodeGroupSelector;
  readonly image?: string;
  readonly registry?: string;
  readonly replicas?: number;
  readonly egressPort?: readonly number[];
  readonly prometheusUrl?: string;
  readonly otlpEndpoint?: string;
  readonly otlpCluster?: string;
  /** The name of a Secret. */
  readonly notifications?: string;
  /** `true`: the mode is that which the cluster serves. */
  readonly metrics?: true | MetricsMode;
  readonly print?: true;
}

/** The default number of pods: one leads, and one takes over. */
const REPLICAS = 2;
/** The most pods of a program: more than three standbys only cost memory. */
const MAX_REPLICAS = 4;
/** The form of an image reference: registry and path, then a tag, a digest, or both. */
const IMAGE =
  /^[a-z0-9][a-z0-9._-]*(?::\d+)?(?:\/[a-z0-9][a-z0-9._-]*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/i;

export function addDeployOptions(command: Command): Command {
  return command
    .option('--hub', 'also run kubenode sync in this cluster, which is the hub of a fleet')
    .option('--cluster', 'also run kubenode controllers in this cluster')
    .option('--hosting', 'also run kubenode hosting in this cluster, which then hosts control planes as pods')
    .addOption(createConsoleOption())
    .addOption(createConsoleIssuerOption())
    .addOption(createConsoleClustersOption())
    .addOption(createConsolePrometheusOption())
    .option('--images <file>', 'with --hosting: the images of control planes, by digest')
    .option('--webhooks', 'with --hub: also a Service for the webhooks of git hosts')
    .option('--maintenance', 'with --cluster: also a Service for the maintenance events of hardware systems')
    .option(
      '--cluster-api',
      'also the role that reads the Machines of Cluster API, which the controllers then follow',
    )
    .addOption(createManagementSecretOption())
    .addOption(createManagementClusterOption())
    .addOption(createExtensionOption())
    .option(
      '--external-nodes',
      'also the role that reads the NodeClaims of Karpenter, whose Nodes the controllers then follow',
    )
    .option(
      '--external-nodes-selector <labels>',
      'also the role that lists Nodes, of which the controllers then follow those with these labels: the Nodes of node groups',
      parseNodeGroupSelector,
    )
    .option('--registry <path>', `registry of the image; it is then PATH/kubenode:${KUBENODE_VERSION}`)
    .option('--image <reference>', 'image, instead of --registry')
    .option(
      '--replicas <n>',
      `pods of each program; one works, the others take over (default: ${REPLICAS})`,
      createIntegerParser(1, MAX_REPLICAS),
    )
    .option(
      '--egress-port <n>',
      'one more TCP port that the pods may connect to, of an API server, a git server or a check; may be repeated',
      addPort,
    )
    .option(
      '--prometheus-url <url>',
      'with --hub, --cluster or --console: URL of the Prometheus server for promql checks, and for the lines of the console; the pods may connect to its port',
      parsePrometheusUrl,
    )
    .option(
      '--otlp-endpoint <url>',
      'with --hub or --cluster: URL of the OpenTelemetry collector for traces; the pods may connect to its port',
      parseOtlpEndpoint,
    )
    .option('--otlp-cluster <name>', 'with --otlp-endpoint: name of this cluster in the traces')
    .option(
      '--notifications <secret>',
      `with --cluster: Secret in ${NAMESPACE} with ${NOTIFICATIONS_FILE} and the files that it names: who is notified of what repairs hand to people`,
      parseSecretName,
    )
    .addOption(createMetricsOption())
    .option(
      '--print',
      'only print the objects of --hub, --cluster, --hosting and --console as YAML, without a server',
    );
}

function createMetricsOption(): Option {
  return new Option(
    '--metrics [how]',
    'also Services for the metrics, and dashboards as ConfigMaps; with the Prometheus Operator also its ServiceMonitors and PrometheusRules, otherwise annotations (default: as the cluster serves)',
  ).choices(['operator', 'annotations']);
}

const parsePort = createIntegerParser(1, 65_535);

function addPort(text: string, before: readonly number[] = []): readonly number[] {
  return [...before, parsePort(text)];
}

/**
 * Returns the objects that these flags add to an installation, in the order in which they are applied. Empty without --hub, --cluster,
 * --hosting and --console. `images` is the content of the file of --images.
 */
export async function deployedObjects(flags: DeployFlags, images?: string): Promise<readonly KubeObject[]> {
  const programs = programsOf(flags);
  if (programs.length === 0) {
    checkUnused(flags);
    return [];
  }
  const image = imageOf(flags);
  const extension = extensionObjects(flags);
  const { replicas = REPLICAS, egressPort: egressPorts = [] } = flags;
  // Loaded only here: most installations have no use for cdk8s.
  const { renderWorkload } = await import('../../../deploy/workload.ts');
  const workloads = programs.flatMap((program) => {
    const config = program.configFile === undefined ? undefined : images;
    return renderWorkload(program, { ...serversOf(flags), image, replicas, egressPorts, config });
  });
  return [...extension.before, ...workloads, ...extension.after];
}

function serversOf({
  prometheusUrl,
  otlpEndpoint,
  otlpCluster,
  notifications,
}: DeployFlags): Partial<DeploySettings> {
  return { prometheusUrl, otlpEndpoint, otlpCluster, notifications };
}

export function programsOf(flags: DeployFlags): readonly DeployedProgram[] {
  const { hub, cluster, hosting, webhooks } = flags;
  checkReceivers(flags);
  checkExtension(flags);
  checkManagement(flags);
  checkNotifications(flags);
  checkImages(flags);
  checkPrometheus(flags);
  checkTraces(flags);
  checkConsole(flags);
  const sync = webhooks ? SYNC_WITH_WEBHOOKS : SYNC;
  return [
    ...(hub ? [sync] : []),
    ...(cluster ? [controllersOf(flags)] : []),
    ...(hosting ? [HOSTING] : []),
    ...consolePrograms(flags),
  ];
}

function controllersOf(flags: DeployFlags): DeployedProgram {
  const {
    maintenance,
    clusterApi,
    externalNodes,
    externalNodesSelector: selector,
    updateExtension,
    metrics,
  } = flags;
  const program = maintenance ? CONTROLLERS_WITH_MAINTENANCE : CONTROLLERS;
  const args = [
    ...(clusterApi ? ['--cluster-api'] : []),
    ...(externalNodes ? ['--external-nodes'] : []),
    ...(selector ? ['--external-nodes-selector', selector.text] : []),
    ...(metrics ? ['--machine-info'] : []),
  ];
  const following = withManagement({ ...program, args: [...program.args, ...args] }, flags);
  return updateExtension === undefined ? following : { ...following, extensionPort: EXTENSION_PORT };
}

/** One is nothing without the other. */
function checkImages({ hosting, images }: DeployFlags): void {
  if (hosting && images === undefined) {
    throw new CliError('--hosting needs --images', {
      hint: 'docs/guides/hosted-clusters.md describes the file with the images of control planes',
      exitCode: EXIT.usage,
    });
  }
  if (images !== undefined && !hosting) {
    throw new CliError('--images needs --hosting', {
      hint: 'the images are those of the control planes that kubenode hosting runs',
      exitCode: EXIT.usage,
    });
  }
}

function checkPrometheus({ hub, cluster, console: url, prometheusUrl }: DeployFlags): void {
  if (prometheusUrl === undefined || hub || cluster || url) return;
  throw new CliError('--prometheus-url needs --hub, --cluster or --console', {
    hint: 'the checks of stages run in kubenode sync, those of component sets in kubenode controllers; kubenode console shows the past',
    exitCode: EXIT.usage,
  });
}

function checkTraces({ hub, cluster, otlpEndpoint, otlpCluster }: DeployFlags): void {
  if (otlpEndpoint === undefined && otlpCluster === undefined) return;
  if (otlpEndpoint === undefined) {
    throw new CliError('--otlp-cluster needs --otlp-endpoint', { exitCode: EXIT.usage });
  }
  if (hub || cluster) return;
  throw new CliError('--otlp-endpoint needs --hub or --cluster', {
    hint: 'the traces of commits are exported by kubenode sync, those of repairs and rollouts by kubenode controllers',
    exitCode: EXIT.usage,
  });
}

function checkNotifications({ cluster, notifications }: DeployFlags): void {
  if (notifications === undefined || cluster) return;
  throw new CliError('--notifications needs --cluster', {
    hint: 'the receivers are notified by kubenode controllers, which runs in each cluster with machines',
    exitCode: EXIT.usage,
  });
}

/** Each Service leads to one program. */
function checkReceivers({ hub, cluster, webhooks, maintenance }: DeployFlags): void {
  if (webhooks && !hub) {
    throw new CliError('--webhooks needs --hub', {
      hint: 'the webhooks of git hosts are received by kubenode sync, which runs in the hub',
      exitCode: EXIT.usage,
    });
  }
  if (maintenance && !cluster) {
    throw new CliError('--maintenance needs --cluster', {
      hint: 'the events of hardware systems are received by kubenode controllers, which runs in each cluster with machines',
      exitCode: EXIT.usage,
    });
  }
}

/** Returns the ports to which all pods of these flags may connect. */
export function permittedPorts(flags: DeployFlags): readonly number[] {
  const [first = [], ...others] = programsOf(flags).map((program) => program.egressPorts);
  const shared = first.filter((port) => others.every((ports) => ports.includes(port)));
  return [...shared, ...(flags.egressPort ?? [])];
}

function checkUnused({ image, registry, replicas, egressPort, metrics, print }: DeployFlags): void {
  const [unused] = Object.entries({
    '--image': image,
    '--registry': registry,
    '--replicas': replicas,
    '--egress-port': egressPort,
    '--metrics': metrics,
    '--print': print,
  }).find(([, value]) => value !== undefined) ?? [undefined];
  if (unused === undefined) return;
  throw new CliError(`${unused} needs --hub, --cluster, --hosting or --console`, {
    hint: 'pass --hub in the hub of a fleet, --cluster in each cluster with machines, --hosting where control planes run as pods, --console where people look at the fleet',
    exitCode: EXIT.usage,
  });
}

function imageOf({ image, registry }: DeployFlags): string {
  if (image === undefined && registry === undefined) {
    throw new CliError('--hub, --cluster, --hosting and --console need --registry or --image', {
      hint: 'there is no published image of kubenode: build it and push it, as docs/guides/install.md describes',
      exitCode: EXIT.usage,
    });
  }
  if (image !== undefined && registry !== undefined) {
    throw new CliError('expected --registry or --image, got both', { exitCode: EXIT.usage });
  }
  const reference = image ?? `${registry}/kubenode:${KUBENODE_VERSION}`;
  if (IMAGE.test(reference)) return reference;
  throw new CliError(`invalid image reference: ${reference}`, {
    hint: 'expected REGISTRY/PATH/NAME:TAG, without https://',
    exitCode: EXIT.usage,
  });
}
