/** Names of Services for pods: CoreDNS, as the add-ons of Kubernetes run it. */
import { ApiObject, type Chart, Duration, JsonPatch, Size } from 'cdk8s';
import {
  ApiResource,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Cpu,
  Deployment,
  DeploymentStrategy,
  DnsPolicy,
  ImagePullPolicy,
  LabelSelector,
  PercentOrAbsolute,
  Probe,
  Protocol,
  Service,
  ServiceAccount,
  Volume,
} from 'cdk8s-plus-27';

const IMAGE = 'registry.k8s.io/coredns/coredns:v1.12.1';
const NAME = 'coredns';
const NAMESPACE = 'kube-system';
const ROLE = 'system:coredns';
/** Charts of Kubernetes select it by this label. */
const LABELS = { 'k8s-app': 'kube-dns' };
const [DNS, METRICS, HEALTH, READY] = [53, 9153, 8080, 8181];

const COREFILE = `.:${DNS} {
    errors
    health :${HEALTH} {
       lameduck 5s
    }
    ready :${READY}
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :${METRICS}
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
`;

/** Kubelets name the address to pods. */
export function declareDns(chart: Chart, address: string): void {
  new ConfigMap(chart, 'dns-config', {
    metadata: { name: NAME, namespace: NAMESPACE },
    data: { Corefile: COREFILE },
  });
  declareRights(chart);
  const config = ConfigMap.fromConfigMapName(chart, 'dns-files', NAME);
  const deployment = createDeployment(chart);
  deployment.addContainer({
    name: NAME,
    image: IMAGE,
    imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT,
    args: ['-conf', '/etc/coredns/Corefile'],
    ports: [
      { name: 'dns', number: DNS, protocol: Protocol.UDP },
      { name: 'dns-tcp', number: DNS, protocol: Protocol.TCP },
      { name: 'metrics', number: METRICS, protocol: Protocol.TCP },
    ],
    resources: {
      cpu: { request: Cpu.millis(100) },
      memory: { request: Size.mebibytes(70), limit: Size.mebibytes(170) },
    },
    liveness: Probe.fromHttpGet('/health', { port: HEALTH, initialDelaySeconds: Duration.seconds(60) }),
    readiness: Probe.fromHttpGet('/ready', { port: READY }),
    securityContext: { ensureNonRoot: false, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
    volumeMounts: [
      { path: '/etc/coredns', volume: Volume.fromConfigMap(chart, 'dns-volume', config), readOnly: true },
    ],
  });
  const service = new Service(chart, 'dns-service', {
    metadata: { name: 'kube-dns', namespace: NAMESPACE, labels: LABELS },
    clusterIP: address,
    ports: [
      { name: 'dns', port: DNS, protocol: Protocol.UDP },
      { name: 'dns-tcp', port: DNS, protocol: Protocol.TCP },
      { name: 'metrics', port: METRICS, protocol: Protocol.TCP },
    ],
  });
  for (const [key, value] of Object.entries(LABELS)) service.selectLabel(key, value);
}

function declareRights(chart: Chart): void {
  const account = new ServiceAccount(chart, 'dns-account', {
    metadata: { name: NAME, namespace: NAMESPACE },
  });
  const allowed = new ClusterRole(chart, 'dns-rights', { metadata: { name: ROLE } });
  allowed.allow(
    ['list', 'watch'],
    ApiResource.ENDPOINT_SLICES,
    ApiResource.NAMESPACES,
    ApiResource.PODS,
    ApiResource.SERVICES,
  );
  const role = ClusterRole.fromClusterRoleName(chart, 'dns-role', ROLE);
  new ClusterRoleBinding(chart, 'dns-binding', { metadata: { name: ROLE }, role }).addSubjects(account);
}

/** Every value that cdk8s-plus has a default for is set here: its defaults are those of another kind of program. */
function createDeployment(chart: Chart): Deployment {
  const deployment = new Deployment(chart, 'dns', {
    metadata: { name: NAME, namespace: NAMESPACE, labels: LABELS },
    podMetadata: { labels: LABELS },
    select: false,
    spread: false,
    isolate: false,
    replicas: 2,
    strategy: DeploymentStrategy.rollingUpdate({
      maxSurge: PercentOrAbsolute.percent(25),
      maxUnavailable: PercentOrAbsolute.absolute(1),
    }),
    serviceAccount: ServiceAccount.fromServiceAccountName(chart, 'dns-pods', NAME),
    automountServiceAccountToken: true,
    securityContext: { ensureNonRoot: false },
    // The servers of the node, not CoreDNS itself.
    dns: { policy: DnsPolicy.DEFAULT },
  });
  deployment.select(LabelSelector.of({ labels: LABELS }));
  const pod = '/spec/template/spec';
  ApiObject.of(deployment).addJsonPatch(
    JsonPatch.add(`${pod}/priorityClassName`, 'system-cluster-critical'),
    JsonPatch.add(`${pod}/tolerations`, [
      { key: 'CriticalAddonsOnly', operator: 'Exists' },
      { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
    ]),
    JsonPatch.remove('/spec/template/metadata/labels/cdk8s.io~1metadata.addr'),
    JsonPatch.add(`${pod}/containers/0/securityContext/capabilities`, {
      add: ['NET_BIND_SERVICE'],
      drop: ['ALL'],
    }),
  );
  return deployment;
}
