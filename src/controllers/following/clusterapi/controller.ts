/** Follows the Machines of Cluster API, written as kubenode-clusterapi. */
import type { Controller } from '../../../kube/controller/controller.ts';
import { valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { createFollowController, type FollowControllerOptions } from '../controller.ts';
import { type FollowSource, isUnreadable } from '../owner.ts';
import { ANNOTATION_NODE_MACHINE, ANNOTATION_NODE_NAMESPACE, type ForeignCluster } from './contract.ts';
import { pausedClusterHold } from './hold.ts';
import type { ConfigSource } from './observe/config-source.ts';
import type { ForeignSource } from './observe/foreign-source.ts';
import { CLUSTER_API, type MachineOfCluster, machinesOfClusters } from './owner.ts';

export interface ClusterApiControllerOptions
  extends Pick<FollowControllerOptions<MachineOfCluster>, 'client' | 'gauge'> {
  readonly source: ForeignSource;
  /** For the update extension: without it nothing is recorded of a KubeadmConfig. */
  readonly configs?: ConfigSource | undefined;
}

export function createClusterApiController({
  source,
  configs,
  ...options
}: ClusterApiControllerOptions): Controller {
  return createFollowController({
    ...options,
    name: 'clusterapi',
    owner: { ...CLUSTER_API, keptReason: (machine) => pausedClusterHold(machine, clustersIn(source)) },
    source: machinesWithClusters(source, configs),
    nodeParts: (node: KubeObject) => [
      valueAt(node, 'spec', 'providerID'),
      node.metadata.annotations?.[ANNOTATION_NODE_MACHINE],
      node.metadata.annotations?.[ANNOTATION_NODE_NAMESPACE],
    ],
  });
}

function clustersIn(source: ForeignSource): readonly ForeignCluster[] {
  const found = source.read();
  return found === undefined || isUnreadable(found) ? [] : found.clusters;
}

function machinesWithClusters(
  source: ForeignSource,
  configs: ConfigSource | undefined,
): FollowSource<MachineOfCluster> {
  return {
    open: (changed) => {
      const leave = [source.open(changed), configs?.open(changed)];
      return () => {
        for (const each of leave) each?.();
      };
    },
    read: () => {
      const found = source.read();
      return found && (isUnreadable(found) ? found : machinesOfClusters(found, configs?.read()));
    },
    list: async (signal) => machinesOfClusters(await source.list(signal), configs?.read()),
  };
}
