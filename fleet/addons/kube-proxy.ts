/** Addresses of Services on every node: kube-proxy of Kubernetes, in the network of the host. */
import { ApiObject, type Chart, JsonPatch } from 'cdk8s';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Cpu,
  DaemonSet,
  EnvFieldPaths,
  EnvValue,
  ImagePullPolicy,
  LabelSelector,
  ServiceAccount,
  Volume,
} from 'cdk8s-plus-27';

/** Never newer than the API server. */
const IMAGE = 'registry.k8s.io/kube-proxy:v1.36.3';
const NAME = 'kube-proxy';
const NAMESPACE = 'kube-system';
const LABELS = { 'k8s-app': NAME };
const CONFIG_FOLDER = '/var/lib/kube-proxy';
/** Of the service account, in every pod. */
const SECRETS = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The Service of the API server has an address only when kube-proxy runs, so it needs that of the server itself. */
export function declareKubeProxy(chart: Chart, apiServer: string): void {
  new ConfigMap(chart, 'proxy-config', {
    metadata: { name: NAME, namespace: NAMESPACE },
    data: { 'config.conf': CONFIG, 'kubeconfig.conf': kubeconfig(apiServer) },
  });
  declareRights(chart);
  const config = ConfigMap.fromConfigMapName(chart, 'proxy-files', NAME);
  const daemonSet = createDaemonSet(chart);
  daemonSet.addContainer({
    name: NAME,
    image: IMAGE,
    imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT,
    command: ['/usr/local/bin/kube-proxy'],
    args: [`--config=${CONFIG_FOLDER}/config.conf`, '--hostname-override=$(NODE_NAME)'],
    envVariables: { NODE_NAME: EnvValue.fromFieldRef(EnvFieldPaths.NODE_NAME) },
    resources: { cpu: { request: Cpu.millis(100) } },
    securityContext: {
      ensureNonRoot: false,
      readOnlyRootFilesystem: false,
      privileged: true,
      allowPrivilegeEscalation: true,
    },
    volumeMounts: [
      { path: CONFIG_FOLDER, volume: Volume.fromConfigMap(chart, 'proxy-volume', config), readOnly: true },
      {
        path: '/lib/modules',
        volume: Volume.fromHostPath(chart, 'proxy-modules', 'modules', { path: '/lib/modules' }),
        readOnly: true,
      },
    ],
  });
}

const CONFIG = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: ${CONFIG_FOLDER}/kubeconfig.conf}
mode: nftables
`;

function kubeconfig(server: string): string {
  return `apiVersion: v1
kind: Config
current-context: default
clusters:
  - name: default
    cluster: {server: "${server}", certificate-authority: ${SECRETS}/ca.crt}
users:
  - name: default
    user: {tokenFile: ${SECRETS}/token}
contexts:
  - name: default
    context: {cluster: default, user: default}
`;
}

function declareRights(chart: Chart): void {
  const account = new ServiceAccount(chart, 'proxy-account', {
    metadata: { name: NAME, namespace: NAMESPACE },
  });
  const role = ClusterRole.fromClusterRoleName(chart, 'proxy-role', 'system:node-proxier');
  new ClusterRoleBinding(chart, 'proxy-binding', {
    metadata: { name: 'kubenode:node-proxier' },
    role,
  }).addSubjects(account);
}

/** Every value that cdk8s-plus has a default for is set here: its defaults are those of another kind of program. */
function createDaemonSet(chart: Chart): DaemonSet {
  const daemonSet = new DaemonSet(chart, 'proxy', {
    metadata: { name: NAME, namespace: NAMESPACE, labels: LABELS },
    podMetadata: { labels: LABELS },
    select: false,
    spread: false,
    isolate: false,
    hostNetwork: true,
    serviceAccount: ServiceAccount.fromServiceAccountName(chart, 'proxy-pods', NAME),
    automountServiceAccountToken: true,
    securityContext: { ensureNonRoot: false },
  });
  daemonSet.select(LabelSelector.of({ labels: LABELS }));
  const pod = '/spec/template/spec';
  ApiObject.of(daemonSet).addJsonPatch(
    JsonPatch.add(`${pod}/priorityClassName`, 'system-node-critical'),
    // Also on nodes that are not initialized yet, and on those that are cordoned.
    JsonPatch.add(`${pod}/tolerations`, [{ operator: 'Exists' }]),
    JsonPatch.remove('/spec/template/metadata/labels/cdk8s.io~1metadata.addr'),
  );
  return daemonSet;
}
