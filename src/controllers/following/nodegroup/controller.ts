/** Follows the Nodes of node groups, written as kubenode-nodegroup with the account of kubenode-external. */
import { PRINCIPAL_EXTERNAL } from '../../../api/names.ts';
import type { Controller } from '../../../kube/controller/controller.ts';
import { createFollowController, type FollowControllerOptions } from '../controller.ts';
import { type GroupNode, groupNodeParts } from './contract.ts';
import { createNodeSource } from './node-source.ts';
import { NODE_GROUP_OWNER } from './owner.ts';
import type { NodeGroupSelector } from './selector.ts';

export interface NodeGroupControllerOptions
  extends Pick<FollowControllerOptions<GroupNode>, 'client' | 'gauge'> {
  readonly selector: NodeGroupSelector;
}

export function createNodeGroupController({
  selector,
  client,
  gauge,
}: NodeGroupControllerOptions): Controller {
  return createFollowController({
    client,
    gauge,
    source: createNodeSource({ client, selector }),
    name: 'nodegroup',
    owner: NODE_GROUP_OWNER,
    account: PRINCIPAL_EXTERNAL,
    nodeParts: groupNodeParts,
  });
}
