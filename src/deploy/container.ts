/** Builds the one container of a pod of kubenode. */
import { type Chart, Duration, JsonPatch, Size } from 'cdk8s';
import {
  ConfigMap,
  type Container,
  type ContainerProps,
  Cpu,
  EnvFieldPaths,
  EnvValue,
  ImagePullPolicy,
  Probe,
  type ProbeOptions,
  Secret,
  Volume,
} from 'cdk8s-plus-27';
import {
  AUTHORITY_FOLDER,
  CACHE_FOLDER,
  CONFIG_FOLDER,
  type DeployedProgram,
  HEALTH_PORT,
} from './programs.ts';

/** The user `node` of the image. */
export const IMAGE_USER = 1000;
const POD_IP = 'POD_IP';
const TMP_MIB = 64;
const TOPOLOGY_KEYS = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'];

export function containerOf(program: DeployedProgram, image: string): ContainerProps {
  const { args, resources, webhookPort, extensionPort, pagePort, isWithoutToken } = program;
  const port = pagePort ?? HEALTH_PORT;
  const { cpuMillis, memoryMiB } = resources;
  // The address of the pod, which is right with IPv4, IPv6 and both.
  const address = `$(${POD_IP})`;
  return {
    name: 'kubenode',
    image,
    // A tag of a release never changes. With a moving tag, restart the pods by hand.
    imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT,
    args: [...args, ...serverArgs(program, address), '--port', String(port), '--host', address],
    ports: [
      { name: pagePort === undefined ? 'health' : 'page', number: port },
      ...(webhookPort === undefined ? [] : [{ name: 'webhook', number: webhookPort }]),
      ...(extensionPort === undefined ? [] : [{ name: 'extension', number: extensionPort }]),
    ],
    envVariables: {
      [POD_IP]: EnvValue.fromFieldRef(EnvFieldPaths.POD_IP),
      XDG_CACHE_HOME: EnvValue.fromValue(CACHE_FOLDER),
      ...(isWithoutToken ? { KUBENODE_SERVICE_ACCOUNT_FOLDER: EnvValue.fromValue(AUTHORITY_FOLDER) } : {}),
    },
    // Until the caches are read the health server does not run. A large hub takes seconds; two minutes are an error.
    startup: probe(port, '/healthz', { periodSeconds: Duration.seconds(2), failureThreshold: 60 }),
    // Liveness depends on no other server. Half a minute without an answer: the process hangs.
    liveness: probe(port, '/healthz', { periodSeconds: Duration.seconds(10), failureThreshold: 3 }),
    readiness: probe(port, '/readyz', { periodSeconds: Duration.seconds(10), failureThreshold: 3 }),
    resources: {
      cpu: { request: Cpu.millis(cpuMillis.request), limit: Cpu.millis(cpuMillis.limit) },
      memory: { request: Size.mebibytes(memoryMiB.request), limit: Size.mebibytes(memoryMiB.limit) },
    },
    securityContext: {
      ensureNonRoot: true,
      user: IMAGE_USER,
      group: IMAGE_USER,
      privileged: false,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    },
  };
}

function serverArgs(
  { webhookPort, webhookOption, extensionPort }: DeployedProgram,
  address: string,
): readonly string[] {
  const listen = (option: string, port: number | undefined): readonly string[] =>
    port === undefined ? [] : [`--${option}-port`, String(port), `--${option}-host`, address];
  const extension = listen('extension', extensionPort);
  return [
    ...listen(webhookOption, webhookPort),
    ...(extension.length === 0 ? [] : [...extension, '--extension-secret']),
  ];
}

function probe(port: number, path: string, options: ProbeOptions): Probe {
  // The server answers within 0.8 s, so that the answer names the check that hangs.
  return Probe.fromHttpGet(path, { port, timeoutSeconds: Duration.seconds(1), ...options });
}

export function mountFolders(chart: Chart, container: Container, program: DeployedProgram): void {
  const { name, resources, configFile, secrets = [], isWithoutToken } = program;
  const cache = { sizeLimit: Size.mebibytes(resources.cacheMiB.limit) };
  container.mount(CACHE_FOLDER, Volume.fromEmptyDir(chart, 'cache', 'cache', cache));
  container.mount('/tmp', Volume.fromEmptyDir(chart, 'tmp', 'tmp', { sizeLimit: Size.mebibytes(TMP_MIB) }));
  for (const { volume: id, secret, folder } of secrets) {
    const files = Secret.fromSecretName(chart, `${id}-of-files`, secret);
    container.mount(folder, Volume.fromSecret(chart, id, files, { name: id }), { readOnly: true });
  }
  if (isWithoutToken) mountAuthority(chart, container);
  if (configFile === undefined) return;
  const config = ConfigMap.fromConfigMapName(chart, 'config-map', name);
  const volume = Volume.fromConfigMap(chart, 'config', config, { name: 'config' });
  container.mount(CONFIG_FOLDER, volume, { readOnly: true });
}

/** The controller manager of Kubernetes keeps this ConfigMap in every namespace. */
function mountAuthority(chart: Chart, container: Container): void {
  const authority = ConfigMap.fromConfigMapName(chart, 'authority-map', 'kube-root-ca.crt');
  const volume = Volume.fromConfigMap(chart, 'authority', authority, { name: 'authority' });
  container.mount(AUTHORITY_FOLDER, volume, { readOnly: true });
}

/**
 * Returns the settings for which cdk8s-plus has no properties, as patches of the JSON: the constructs would drop fields that they do not
 * know.
 */
export function podPatches(
  { startsPrograms, resources: { cacheMiB } }: DeployedProgram,
  matchLabels: Readonly<Record<string, string>>,
): readonly JsonPatch[] {
  const pod = '/spec/template/spec';
  const container = `${pod}/containers/0`;
  return [
    JsonPatch.add(`${container}/securityContext/capabilities`, { drop: ['ALL'] }),
    JsonPatch.add(`${container}/resources/requests/ephemeral-storage`, `${cacheMiB.request}Mi`),
    JsonPatch.add(`${container}/resources/limits/ephemeral-storage`, `${cacheMiB.limit + TMP_MIB}Mi`),
    JsonPatch.add(`${pod}/securityContext/seccompProfile`, { type: 'RuntimeDefault' }),
    JsonPatch.add(`${pod}/topologySpreadConstraints`, TOPOLOGY_KEYS.map(spreadOver)),
    // The pause container then reaps children of killed programs; Node.js as process 1 would not.
    ...(startsPrograms ? [JsonPatch.add(`${pod}/shareProcessNamespace`, true)] : []),
    JsonPatch.remove('/spec/template/metadata/labels/cdk8s.io~1metadata.addr'),
  ];

  function spreadOver(topologyKey: string): Readonly<Record<string, unknown>> {
    return {
      topologyKey,
      maxSkew: 1,
      // A cluster of one node runs all replicas on it.
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels },
      // The pods of an older version are leaving: they do not count.
      matchLabelKeys: ['pod-template-hash'],
    };
  }
}
