/** Defines the management cluster: where the objects of Cluster API are, if not in the cluster of the Nodes. */
import type { Client } from '../../../kube/client/client.ts';

export interface ManagementCluster {
  /** With rights there; undefined: its objects are in the cluster of the Nodes, beside those of other clusters. */
  readonly client?: Client;
  /** The Cluster object of the Nodes. */
  readonly cluster: ForeignClusterName;
}

export interface ForeignClusterName {
  readonly namespace: string;
  readonly name: string;
}
