/** Cluster API as the owner of machines that are followed. Pure. */
import { MANAGER_CLUSTERAPI } from '../../../api/names.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { BoundObject, FollowOwner } from '../owner.ts';
import {
  ANNOTATION_NODE_MACHINE,
  ANNOTATION_NODE_NAMESPACE,
  ANNOTATION_UPDATING,
  type ForeignCluster,
  type ForeignConfig,
  type ForeignMachine,
} from './contract.ts';
import { nextRecord } from './extension/files/record.ts';
import { machineText, ownerHoldOf } from './hold.ts';

export interface ForeignObjects {
  readonly machines: readonly ForeignMachine[];
  readonly clusters: readonly ForeignCluster[];
}

/** A Machine of theirs with its Cluster; undefined: it was not found. */
export interface MachineOfCluster extends ForeignMachine {
  readonly foreignCluster: ForeignCluster | undefined;
  /** Undefined: it is not known now, or there is none. */
  readonly config: ForeignConfig | undefined;
}

export const CLUSTER_API: FollowOwner<MachineOfCluster> = {
  provider: 'clusterapi',
  manager: MANAGER_CLUSTERAPI,
  logRead: (log, because) => {
    if (because === undefined) log.info('cluster api is read');
    else log.warn('cluster api is not read', { because });
  },
  fields: { providerID: 'spec.providerID', node: 'status.nodeRef' },
  config: {},
  textOf: machineText,
  otherOwnerReason,
  holdOf: (machine) => ownerHoldOf(machine, machine.foreignCluster),
  bootstrapOf: bootstrapRecord,
};

/** `configs` are undefined while they cannot be read. */
export function machinesOfClusters(
  { machines, clusters }: ForeignObjects,
  configs: readonly ForeignConfig[] = [],
): readonly MachineOfCluster[] {
  const known = new Map(clusters.map((cluster) => [`${cluster.namespace}/${cluster.name}`, cluster]));
  const configOf = new Map(configs.map((config) => [`${config.namespace}/${config.name}`, config]));
  return machines.map((machine) => ({
    ...machine,
    foreignCluster: known.get(`${machine.namespace}/${machine.cluster}`),
    config: configOf.get(`${machine.namespace}/${machine.kubeadmConfig}`),
  }));
}

/** Keeps the record as it was while the config is not observed. */
function bootstrapRecord(
  { version = '', annotations, config }: MachineOfCluster,
  before: string | undefined,
): string | undefined {
  if (!config) return before;
  const isUpdating = config.isUpdating || annotations[ANNOTATION_UPDATING] !== undefined;
  return nextRecord(before, { version, files: config.files, isUpdating });
}

/** Clusters may have Nodes of one name, and providers that number their instances may give one id in each. */
function otherOwnerReason(
  { name, namespace, node }: MachineOfCluster & BoundObject,
  { metadata: { annotations = {} } }: KubeObject,
): string | undefined {
  const owner = `${annotations[ANNOTATION_NODE_NAMESPACE] ?? namespace}/${annotations[ANNOTATION_NODE_MACHINE] ?? name}`;
  return owner === `${namespace}/${name}`
    ? undefined
    : `Node ${node} belongs to Machine ${owner} of Cluster API`;
}
