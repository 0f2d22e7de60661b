/** How busy the nodes are, by pool and version: measured by node-exporter, joined with the machines that kubenode knows. Pure. */
import { MACHINE_INFO } from '../metrics/machine.ts';
import { METRIC_PREFIX } from '../metrics/table.ts';
import type { RecordingRule, RuleGroup } from './rule.ts';

/** One series each for a node, with the labels `node`, `pool` and `version`. */
export const NODE_USE = {
  /** The share of the cores that works. */
  cpu: 'kubenode:node_cpu_used:ratio',
  memory: 'kubenode:node_memory_used:ratio',
  /** The file system counts that is fullest. */
  disk: 'kubenode:node_disk_used:ratio',
  /** Received and sent, in bytes a second. */
  network: 'kubenode:node_network:bytes_rate',
} as const;

const TARGET = '(cluster, instance)';
const NODE = '(cluster, node)';
/** Pods, bridges, tunnels, bonds and VLANs have traffic that is also that of a card. */
const NO_CARD =
  'lo|veth.*|cali.*|cilium.*|lxc.*|cni.*|docker.*|br-.*|virbr.*|flannel.*|vxlan.*|genev.*|gre.*|tunl.*|ip6tnl.*|sit.*|wg.*|kube-ipvs.*|nodelocaldns|dummy.*|ovs.*|bond.*|team.*|vlan.*|.+[.][0-9]+';
/** Memory, images, layers of containers and the disks of other machines do not fill up the node. */
const NO_DISK =
  'tmpfs|ramfs|overlay|squashfs|iso9660|erofs|fuse.*|nfs.*|cifs|smb.*|ceph|glusterfs|9p|virtiofs';
/** The volumes of pods are not of the node. */
const NO_MOUNT = '/var/lib/kubelet/.+';
const DISK = `{fstype!~"${NO_DISK}",mountpoint!~"${NO_MOUNT}"}`;

const MEASURED: Readonly<Record<keyof typeof NODE_USE, string>> = {
  cpu: `1 - avg by ${TARGET} (rate(node_cpu_seconds_total{mode="idle"}[5m]))`,
  memory: `1 - max by ${TARGET} (node_memory_MemAvailable_bytes) / max by ${TARGET} (node_memory_MemTotal_bytes)`,
  disk: `max by ${TARGET} (1 - node_filesystem_avail_bytes${DISK} / (node_filesystem_size_bytes${DISK} > 0))`,
  network: `sum by ${TARGET} (${bytesRate('receive')} + ${bytesRate('transmit')})`,
};

const KNOWN = `max by (cluster, node, pool, version) (${METRIC_PREFIX}${MACHINE_INFO.name})`;
/** While a machine changes its version, two replicas of the controllers disagree for one scrape. Such a node has no number, and the rule goes on. */
const MACHINES = `(${KNOWN} unless on ${NODE} (count by ${NODE} (${KNOWN}) > 1))`;
const NAMES = `max by (cluster, instance, nodename) (node_uname_info)`;

export const UTILIZATION_GROUP: RuleGroup = {
  name: 'kubenode-utilization',
  recordings: Object.entries(MEASURED).map(
    ([kind, measured]): RecordingRule => ({
      record: NODE_USE[kind as keyof typeof NODE_USE],
      expr: ofMachines(measured),
      labels: {},
    }),
  ),
  alerts: [],
};

/** The name of the host is that of its Node, unless somebody overrides it in the kubelet. */
function ofMachines(measured: string): string {
  const named = `(${measured}) * on ${TARGET} group_left (nodename) ${NAMES}`;
  const ofNode = `label_replace(${named}, "node", "$1", "nodename", "(.*)")`;
  return `max by (cluster, node, pool, version) (${ofNode} * on ${NODE} group_left (pool, version) ${MACHINES})`;
}

function bytesRate(direction: 'receive' | 'transmit'): string {
  return `rate(node_network_${direction}_bytes_total{device!~"${NO_CARD}"}[5m])`;
}
