/** Cluster API as the owner of machines that are followed. Pure. */
import { MANAGER_CLUSTERAPI } from '../../../api/names.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { BoundObject, FollowOwner } from '../owner.ts';
import {
  ANNOTATION_NODE_MACHINE,
  ANNOTATION_NODE_NAMESPACE,
  type ForeignCluster,
  type ForeignMachine,
} from './contract.ts';
import { machineText, ownerHoldOf } from './hold.ts';

export interface ForeignObjects {
  readonly machines: readonly ForeignMachine[];
  readonly clusters: readonly ForeignCluster[];
}

/** A Machine of theirs with its Cluster; undefined: it was not found. */
export interface MachineOfCluster extends ForeignMachine {
  readonly foreignCluster: ForeignCluster | undefined;
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
};

export function machinesOfClusters({ machines, clusters }: ForeignObjects): readonly MachineOfCluster[] {
  const known = new Map(clusters.map((cluster) => [`${cluster.namespace}/${cluster.name}`, cluster]));
  return machines.map((machine) => ({
    ...machine,
    foreignCluster: known.get(`${machine.namespace}/${machine.cluster}`),
  }));
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
