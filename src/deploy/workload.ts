/**
 * Renders one program of kubenode as objects of Kubernetes. Every value that cdk8s-plus has a default for is set here and in
 * container.ts, because its defaults are those of another kind of program.
 */
import { ApiObject, type ApiObjectProps, App, Chart, Duration, JsonPatch } from 'cdk8s';
import {
  Deployment,
  DeploymentStrategy,
  LabelSelector,
  PercentOrAbsolute,
  RestartPolicy,
  ServiceAccount,
} from 'cdk8s-plus-27';
import { LABEL_MANAGED_BY, MANAGED_BY, NAMESPACE } from '../api/names.ts';
import type { KubeObject } from '../kube/objects/object.ts';
import { containerOf, IMAGE_USER, mountFolders, podPatches } from './container.ts';
import { networkPolicySpec } from './network-policy.ts';
import { type DeployedProgram, NOTIFICATIONS_FILE, podLabels, SECRET_FOLDER } from './programs.ts';

export interface DeploySettings {
  /** With registry, and tag or digest. */
  readonly image: string;
  readonly replicas: number;
  /** TCP ports of API servers, git servers and checks, beside the usual ones. */
  readonly egressPorts: readonly number[];
  /** The Prometheus of the checks of programs that run some. */
  readonly prometheusUrl?: string | undefined;
  /** The URL of the collector of programs that export traces. */
  readonly otlpEndpoint?: string | undefined;
  /** The name of the cluster in traces. */
  readonly otlpCluster?: string | undefined;
  /** The Secret with the receivers of a program that notifies people. */
  readonly notifications?: string | undefined;
  /** The content of the file of a program that has one. */
  readonly config?: string | undefined;
}

/** In the order in which they are applied: no pod runs before its limits exist. */
export function renderWorkload(deployed: DeployedProgram, settings: DeploySettings): readonly KubeObject[] {
  const program = withNotifications(withTraces(withPrometheus(deployed, settings), settings), settings);
  const chart = new Chart(new App(), program.name, { namespace: NAMESPACE, disableResourceNameHashes: true });
  const labels = podLabels(program);
  const metadata = {
    name: program.name,
    labels: { ...labels, [LABEL_MANAGED_BY]: MANAGED_BY },
    annotations: { 'kubernetes.io/description': program.description },
  };
  const policy = new ApiObject(chart, 'network-policy', {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata,
    spec: networkPolicySpec(program, labels, settings.egressPorts),
  });
  const budget = new ApiObject(chart, 'disruption-budget', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    // Not minAvailable: with one replica it would block every drain. A pod that is not ready blocks none either.
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: labels },
    },
  });
  const deployment = createDeployment(chart, program, settings);
  for (const [key, value] of Object.entries(metadata.labels)) deployment.metadata.addLabel(key, value);
  deployment.metadata.addAnnotation('kubernetes.io/description', program.description);
  const plain: unknown = ApiObject.of(deployment).toJson();
  const patched: unknown = JsonPatch.apply(plain, ...podPatches(program, labels));
  const config = configMap(chart, program, { metadata, settings });
  const objects = [
    ...ownAccount(program),
    ...config,
    policy.toJson(),
    budget.toJson(),
    patched,
  ] as KubeObject[];
  const services = servicesOf(program, metadata).map(
    (service) => new ApiObject(chart, `${service.port.name}-service`, serviceParts(service)),
  );
  return [...objects, ...services.map((service) => service.toJson() as KubeObject)];
}

function withPrometheus(program: DeployedProgram, { prometheusUrl }: DeploySettings): DeployedProgram {
  if (prometheusUrl === undefined || !program.asksPrometheus) return program;
  return withServer(program, prometheusUrl, ['--prometheus-url', prometheusUrl]);
}

function withTraces(
  program: DeployedProgram,
  { otlpEndpoint, otlpCluster }: DeploySettings,
): DeployedProgram {
  if (otlpEndpoint === undefined || !program.traces) return program;
  const cluster = otlpCluster === undefined ? [] : ['--otlp-cluster', otlpCluster];
  return withServer(program, otlpEndpoint, ['--otlp-endpoint', otlpEndpoint, ...cluster]);
}

/** Adds the options for the server, and the rights to find it by name and to connect to its port. */
function withServer(program: DeployedProgram, url: string, args: readonly string[]): DeployedProgram {
  const { port, protocol } = new URL(url);
  const own = port === '' ? DEFAULT_PORTS[protocol] : Number(port);
  return {
    ...program,
    args: [...program.args, ...args],
    usesDns: true,
    egressPorts: [...program.egressPorts, ...(own === undefined ? [] : [own])],
  };
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** Adds the Secret of the receivers, and the right to find them by name. The port of HTTPS is that of API servers, too. */
function withNotifications(
  program: DeployedProgram,
  { notifications: secret }: DeploySettings,
): DeployedProgram {
  if (secret === undefined || !program.notifies) return program;
  return {
    ...program,
    secrets: [...(program.secrets ?? []), { volume: 'secret', secret, folder: SECRET_FOLDER }],
    args: [...program.args, '--notifications', `${SECRET_FOLDER}/${NOTIFICATIONS_FILE}`],
    usesDns: true,
  };
}

interface ConfigParts {
  readonly metadata: { readonly name: string };
  readonly settings: DeploySettings;
}

function configMap(
  chart: Chart,
  { configFile }: DeployedProgram,
  { metadata, settings }: ConfigParts,
): readonly unknown[] {
  if (configFile === undefined) return [];
  const data = { [configFile]: settings.config ?? '' };
  const parts = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  return [new ApiObject(chart, 'config-file', parts).toJson()];
}

interface ServiceMetadata {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface ProgramService {
  readonly metadata: ServiceMetadata;
  readonly port: { readonly name: string; readonly targetPort: number };
}

/** Every replica receives webhooks, also those that only wait for a Lease. */
function servicesOf(
  { webhookPort, pagePort }: DeployedProgram,
  metadata: ServiceMetadata,
): readonly ProgramService[] {
  const webhooks = { ...metadata, name: `${metadata.name}-webhooks` };
  return [
    ...(webhookPort === undefined
      ? []
      : [{ metadata: webhooks, port: { name: 'webhook', targetPort: webhookPort } }]),
    ...(pagePort === undefined ? [] : [{ metadata, port: { name: 'page', targetPort: pagePort } }]),
  ];
}

function serviceParts({ metadata, port }: ProgramService): ApiObjectProps & { readonly spec: unknown } {
  const { [LABEL_MANAGED_BY]: _, ...selector } = metadata.labels;
  const spec = { selector, ports: [{ ...port, port: 80, protocol: 'TCP' }] };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec };
}

/**
 * The account of a program without a token, which has no rights and is not part of the installation. Without our label, because an installation
 * without the program must not prune the account of its pods.
 */
function ownAccount({ name, account, description, isWithoutToken }: DeployedProgram): readonly KubeObject[] {
  if (!isWithoutToken) return [];
  const metadata = {
    name: account,
    namespace: NAMESPACE,
    labels: { 'app.kubernetes.io/name': 'kubenode' },
    annotations: { 'kubernetes.io/description': `Account of ${name}. ${description}` },
  };
  return [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false }];
}

function createDeployment(chart: Chart, program: DeployedProgram, settings: DeploySettings): Deployment {
  const labels = podLabels(program);
  const deployment = new Deployment(chart, 'deployment', {
    metadata: { name: program.name },
    podMetadata: { labels },
    select: false,
    spread: false,
    replicas: program.replicas ?? settings.replicas,
    strategy: DeploymentStrategy.rollingUpdate({
      maxSurge: PercentOrAbsolute.absolute(1),
      maxUnavailable: PercentOrAbsolute.absolute(1),
    }),
    minReady: Duration.seconds(0),
    progressDeadline: Duration.seconds(600),
    serviceAccount: ServiceAccount.fromServiceAccountName(chart, 'account', program.account),
    automountServiceAccountToken: !program.isWithoutToken,
    restartPolicy: RestartPolicy.ALWAYS,
    // A clean end releases the Lease, so that another pod leads at once.
    terminationGracePeriod: Duration.seconds(30),
    securityContext: { ensureNonRoot: true, user: IMAGE_USER, group: IMAGE_USER, fsGroup: IMAGE_USER },
    isolate: false,
  });
  deployment.select(LabelSelector.of({ labels }));
  mountFolders(chart, deployment.addContainer(containerOf(program, settings.image)), program);
  return deployment;
}
