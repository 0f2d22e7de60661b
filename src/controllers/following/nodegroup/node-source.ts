/** Reads the Nodes of this cluster as the objects of node groups. They are watched by the process already, and always served. */
import type { Client } from '../../../kube/client/client.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { FollowSource } from '../owner.ts';
import { type GroupNode, groupNode } from './contract.ts';
import type { NodeGroupSelector } from './selector.ts';

export interface NodeSourceOptions {
  readonly client: Pick<Client, 'pages'>;
  readonly selector: NodeGroupSelector;
}

export function createNodeSource({ client, selector }: NodeSourceOptions): FollowSource<GroupNode> {
  return {
    // The controller is triggered by its view of Nodes. Without any Node its Machines are judged once, too.
    open: (changed) => {
      changed();
      return () => undefined;
    },
    read: (nodes) => nodes.list().map((node) => groupNode(node, selector)),
    // All Nodes, also those that are not selected: a Node whose label was removed was not deleted.
    list: async (signal) => {
      const found: GroupNode[] = [];
      for await (const { items } of client.pages(NODES, { signal })) {
        found.push(...items.map((node) => groupNode(node, selector)));
      }
      return found;
    },
  };
}
