/** Follows the Machines of Cluster API, written as kubenode-clusterapi. */
import type { Controller } from '../../../kube/controller/controller.ts';
import { valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { createFollowController, type FollowControllerOptions } from '../controller.ts';
import { type FollowSource, isUnreadable } from '../owner.ts';
import { ANNOTATION_NODE_MACHINE, ANNOTATION_NODE_NAMESPACE } from './contract.ts';
import type { ForeignSource } from './observe/foreign-source.ts';
import { CLUSTER_API, type MachineOfCluster, machinesOfClusters } from './owner.ts';

export interface ClusterApiControllerOptions
  extends Pick<FollowControllerOptions<MachineOfCluster>, 'client' | 'gauge'> {
  readonly source: ForeignSource;
}

export function createClusterApiController({ source, ...options }: ClusterApiControllerOptions): Controller {
  return createFollowController({
    ...options,
    name: 'clusterapi',
    owner: CLUSTER_API,
    source: machinesWithClusters(source),
    nodeParts: (node: KubeObject) => [
      valueAt(node, 'spec', 'providerID'),
      node.metadata.annotations?.[ANNOTATION_NODE_MACHINE],
      node.metadata.annotations?.[ANNOTATION_NODE_NAMESPACE],
    ],
  });
}

function machinesWithClusters(source: ForeignSource): FollowSource<MachineOfCluster> {
  return {
    open: (changed) => source.open(changed),
    read: () => {
      const found = source.read();
      return found && (isUnreadable(found) ? found : machinesOfClusters(found));
    },
    list: async (signal) => machinesOfClusters(await source.list(signal)),
  };
}
