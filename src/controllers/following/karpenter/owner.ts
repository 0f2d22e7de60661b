/** Karpenter as the owner of Nodes that are followed, and why it permits no disruption of one. Pure. */
import { MANAGER_EXTERNAL } from '../../../api/names.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { FollowOwner, OwnerHold, OwnerObject } from '../owner.ts';
import {
  ANNOTATION_DO_NOT_DISRUPT,
  karpenterTaints,
  mayBeDisrupted,
  NODE_CLAIMS,
  type NodeClaim,
  TAINT_DISRUPTED,
} from './contract.ts';

export const KARPENTER: FollowOwner<NodeClaim> = {
  provider: 'external',
  manager: MANAGER_EXTERNAL,
  logRead: (log, because) => {
    if (because === undefined) log.info('karpenter is read');
    else log.warn('karpenter is not read', { because });
  },
  fields: { providerID: 'status.providerID', node: 'status.nodeName' },
  config: { kind: NODE_CLAIMS.kind },
  textOf: claimText,
  // Karpenter marks a Node by its instance only, which is compared already.
  otherOwnerReason: () => undefined,
  holdOf: (claim, node) => deletionHold(claim) ?? (node && taintHold(node)) ?? annotationHold(claim, node),
};

function claimText({ name }: Pick<OwnerObject, 'name'>): string {
  return `NodeClaim ${name} of Karpenter`;
}

function deletionHold(claim: NodeClaim): OwnerHold | undefined {
  if (!claim.isDeleting) return undefined;
  return {
    reason: 'NodeClaimDeleting',
    message: `${claimText(claim)} is being deleted, and its Node is drained there`,
  };
}

function taintHold(node: KubeObject): OwnerHold | undefined {
  const [taint] = karpenterTaints(node);
  if (taint === undefined) return undefined;
  const reason = taint === TAINT_DISRUPTED ? 'NodeDisrupted' : 'NodeUnregistered';
  return { reason, message: `Node ${node.metadata.name} has the taint ${taint}` };
}

/** A drain, a restart and a reboot of kubenode are disruptions, too. */
function annotationHold(claim: NodeClaim, node: KubeObject | undefined): OwnerHold | undefined {
  const onNode = node !== undefined && !mayBeDisrupted(node);
  if (claim.mayBeDisrupted && !onNode) return undefined;
  const text = claim.mayBeDisrupted ? `Node ${node?.metadata.name}` : claimText(claim);
  return { reason: 'DoNotDisrupt', message: `${text} has the annotation ${ANNOTATION_DO_NOT_DISRUPT}` };
}
