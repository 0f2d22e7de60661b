/** Follows the Nodes that Karpenter creates, written as kubenode-external. */
import type { Controller } from '../../../kube/controller/controller.ts';
import { textAt } from '../../../kube/objects/json.ts';
import { createFollowController, type FollowControllerOptions } from '../controller.ts';
import { karpenterTaints, mayBeDisrupted, type NodeClaim } from './contract.ts';
import { KARPENTER } from './owner.ts';

export type ExternalControllerOptions = Pick<
  FollowControllerOptions<NodeClaim>,
  'source' | 'client' | 'gauge'
>;

export function createExternalController(options: ExternalControllerOptions): Controller {
  return createFollowController({
    ...options,
    name: 'external',
    owner: KARPENTER,
    nodeParts: (node) => [textAt(node, 'spec', 'providerID'), karpenterTaints(node), mayBeDisrupted(node)],
  });
}
