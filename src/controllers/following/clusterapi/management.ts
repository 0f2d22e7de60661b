/** Defines the management cluster: where the objects of Cluster API are, if not in the cluster of the Nodes. */
import type { Client } from '../../../kube/client/client.ts';

export interface ManagementCluster {
  /** With the rights of kubenode-clusterapi there. */
  readonly client: Client;
  /** The Cluster object of the Nodes: those of others are in the same management cluster. */
  readonly cluster: ForeignClusterName;
}

export interface ForeignClusterName {
  readonly namespace: string;
  readonly name: string;
}
