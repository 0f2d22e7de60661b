/** Notes of `kubenode plan` about hosted control planes that run as pods: what is refused, and who does not answer meanwhile. Pure. */

/** The fields that driver workload does not change once the control plane exists, with their defaults. */
export const FIXED_FOR_PODS: Readonly<Record<string, unknown>> = {
  'exposure.type': 'ClusterIP',
  'exposure.host': undefined,
  'exposure.port': 6443,
  'etcd.storageGiB': 8,
};

/** The requests of members, which processes do not have. */
export const RESERVED_BY_PODS: Readonly<Record<string, unknown>> = Object.fromEntries(
  ['apiServer', 'controllerManager', 'scheduler'].flatMap((part) =>
    ['cpuMillis', 'memoryMiB'].map((name) => [`${part}.${name}`, undefined]),
  ),
);

/** All API servers publish one address in this Service. One that ends takes it back, and another one publishes it again within ten seconds. */
const IN_THE_CLUSTER =
  'pods of the cluster that connect by the Service kubernetes may be refused for up to ten seconds each time';

export function podOutageText(fields: readonly string[], etcdMembers: number, apiServers: number): string {
  return `${podOrderText(apiServers)}${etcdOutageText(fields, etcdMembers)}; ${IN_THE_CLUSTER}`;
}

/** A rotation replaces every pod, that of each member of etcd, too. `etcd` tells what is not served meanwhile. */
export function podRotationText(apiServers: number, etcd: string): string {
  return `${podOrderText(apiServers)}${etcd}; ${IN_THE_CLUSTER}`;
}

function podOrderText(apiServers: number): string {
  return apiServers > 1 ? orderText(apiServers) : 'its next API server answers before the former one ends';
}

/** Only API servers that end have clients in the cluster that notice it. */
export function podCountText(from: number, to: number): string {
  return to < from ? `no outage is expected; ${IN_THE_CLUSTER}` : 'no outage is expected';
}

export function orderText(apiServers: number): string {
  return `its ${apiServers} API servers are started one after the other`;
}

/** Only an etcd with one member has no other one beside it: its version belongs to that of the control plane. */
export function etcdOutageText(fields: readonly string[], etcdMembers: number): string {
  const isReplaced = fields.some((field) => field === 'version' || field.startsWith('etcd.'));
  if (!isReplaced || etcdMembers > 1) return ': no outage is expected';
  return '; etcd has one member, and nothing is served while that is replaced because its own version or quota changes';
}
