/** Builds what the pods of a control plane may reach and what may reach them, and the Services in front of them. Pure. */
import { NAMESPACE } from '../../../../../api/names.ts';
import type { KubeObject, Resource } from '../../../../../kube/objects/object.ts';
import {
  etcdMembersOf,
  etcdSelector,
  memberLabels,
  planeLabels,
  planeNamespace,
  SNAPSHOT,
  snapshotLabels,
  type WorkloadMember,
} from '../names.ts';
import type { WorkloadPlane } from '../plane.ts';
import { ETCD_PEER_PORT, ETCD_PORT, memberPort } from '../ports.ts';

export const NETWORK_POLICIES: Resource = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  namespaced: true,
};
export const SERVICES: Resource = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
};

type Json = Readonly<Record<string, unknown>>;
type Found = Pick<WorkloadPlane, 'cluster' | 'placement' | 'settings' | 'addresses'>;

/** Each member of etcd has a Service, whose address stays: the others and the API servers find it there. */
export function planeServices(plane: Found): readonly KubeObject[] {
  const { cluster, placement } = plane;
  const { type, port } = placement.exposure;
  const { addresses = {} } = plane;
  const members = etcdMembersOf(plane);
  const etcd = members.map((member) => serviceOf(cluster, member, { type: 'ClusterIP', port: ETCD_PORT }));
  const all = [
    ...(members.length === 1 ? etcd : etcd.map(withPeerPort)),
    serviceOf(cluster, 'kube-apiserver', { type, port }),
  ];
  return all.map((service) => withAddress(service, addresses[service.metadata.name]));
}

/** With another address a member would not be the one that etcd has in its list. */
function withAddress(service: KubeObject, clusterIP: string | undefined): KubeObject {
  const spec = service['spec'] as Json;
  return clusterIP === undefined ? service : { ...service, spec: { ...spec, clusterIP } };
}

/** A member that joins, or that waits for the others, is not ready, and has to be reached by them. */
function withPeerPort(service: KubeObject): KubeObject {
  const spec = service['spec'] as Json;
  const peer = { name: 'peer', port: ETCD_PEER_PORT, targetPort: ETCD_PEER_PORT, protocol: 'TCP' };
  const ports = [...(spec['ports'] as readonly Json[]), peer];
  return { ...service, spec: { ...spec, ports, publishNotReadyAddresses: true } };
}

function serviceOf(
  cluster: string,
  member: WorkloadMember,
  { type, port }: { readonly type: string; readonly port: number },
): KubeObject {
  const labels = memberLabels(cluster, member);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: member, namespace: planeNamespace(cluster), labels },
    spec: {
      type,
      selector: labels,
      ports: [{ name: 'https', port, targetPort: port, protocol: 'TCP' }],
    },
  };
}

/** The pods of `kubenode hosting`, which asks each member for its certificate. */
const HOSTING = {
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
  podSelector: {
    matchLabels: { 'app.kubernetes.io/name': 'kubenode', 'app.kubernetes.io/component': 'hosting' },
  },
};

/**
 * Nothing is allowed but this: etcd is reached by its own API server and by what takes its snapshots, the API server by everyone, the managers by hosting only. Who may
 * reach a health port is not listed: the kubelet of the node of a pod always may.
 */
export function planePolicies(plane: Found): readonly KubeObject[] {
  const { cluster, placement } = plane;
  const etcd = { podSelector: etcdSelector(cluster, etcdMembersOf(plane)) };
  const amongEtcd = etcdMembersOf(plane).length === 1 ? [] : [{ peers: [etcd], ports: tcp(ETCD_PEER_PORT) }];
  const apiPort = memberPort('kube-apiserver', placement.exposure.port);
  const toApiServer = { to: [pods(cluster, 'kube-apiserver')], ports: tcp(apiPort) };
  const fromHosting = (member: WorkloadMember): Json => ({
    from: [HOSTING],
    ports: tcp(memberPort(member, apiPort)),
  });
  return [
    policyOf(cluster, 'default-deny', { podSelector: {}, policyTypes: BOTH }),
    policyOf(cluster, 'etcd', {
      ...etcd,
      policyTypes: BOTH,
      ingress: [
        { from: [pods(cluster, 'kube-apiserver')], ports: tcp(ETCD_PORT) },
        fromHosting('etcd'),
        ...amongEtcd.map(({ peers, ports }) => ({ from: peers, ports })),
      ],
      egress: amongEtcd.map(({ peers, ports }) => ({ to: peers, ports })),
    }),
    // Beside the policy of etcd: one that exists is not written again.
    policyOf(cluster, `${SNAPSHOT}-to-etcd`, {
      ...etcd,
      policyTypes: BOTH,
      ingress: [{ from: [snapshotPods(cluster)], ports: tcp(ETCD_PORT) }],
      egress: [],
    }),
    policyOf(cluster, SNAPSHOT, {
      ...snapshotPods(cluster),
      policyTypes: BOTH,
      ingress: [],
      egress: [{ to: [etcd], ports: tcp(ETCD_PORT) }],
    }),
    // Webhooks, aggregated APIs and nodes can be anywhere.
    policyFor(cluster, 'kube-apiserver', { ingress: [{ ports: tcp(apiPort) }], egress: [{}] }),
    policyFor(cluster, 'kube-controller-manager', {
      ingress: [fromHosting('kube-controller-manager')],
      egress: [toApiServer],
    }),
    policyFor(cluster, 'kube-scheduler', {
      ingress: [fromHosting('kube-scheduler')],
      egress: [toApiServer],
    }),
    // Hosts that it imports, and clouds, can be anywhere.
    policyFor(cluster, 'kubenode-controllers', { ingress: [], egress: [{}] }),
  ];
}

const BOTH = ['Ingress', 'Egress'];

function policyFor(cluster: string, member: WorkloadMember, rules: Json): KubeObject {
  const podSelector = { matchLabels: memberLabels(cluster, member) };
  return policyOf(cluster, member, { podSelector, policyTypes: BOTH, ...rules });
}

function policyOf(cluster: string, name: string, spec: Json): KubeObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, namespace: planeNamespace(cluster), labels: planeLabels(cluster) },
    spec,
  };
}

function pods(cluster: string, member: WorkloadMember): Json {
  return { podSelector: { matchLabels: memberLabels(cluster, member) } };
}

function snapshotPods(cluster: string): Json {
  return { podSelector: { matchLabels: snapshotLabels(cluster) } };
}

function tcp(port: number): readonly Json[] {
  return [{ port, protocol: 'TCP' }];
}
