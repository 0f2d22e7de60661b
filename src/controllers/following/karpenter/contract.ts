/**
 * Reads NodeClaims of Karpenter. What cannot be read is absent: no field is trusted to have the type that another project gave it. Pure.
 */
import { listAt, textAt } from '../../../kube/objects/json.ts';
import { type KubeObject, keptMetadata, type Resource } from '../../../kube/objects/object.ts';
import type { OwnerObject } from '../owner.ts';

export const KARPENTER_GROUP = 'karpenter.sh';
export const NODE_CLAIMS: Resource = {
  group: KARPENTER_GROUP,
  version: 'v1',
  kind: 'NodeClaim',
  plural: 'nodeclaims',
  namespaced: false,
};

/** On a Node that Karpenter drains and deletes. */
export const TAINT_DISRUPTED = `${KARPENTER_GROUP}/disrupted`;
/** On a Node that has not joined Karpenter yet. */
export const TAINT_UNREGISTERED = `${KARPENTER_GROUP}/unregistered`;
/** On each Node of a NodePool. */
export const LABEL_NODE_POOL = `${KARPENTER_GROUP}/nodepool`;
/** On a Node or a NodeClaim: Karpenter does not disrupt it by its own decision. */
export const ANNOTATION_DO_NOT_DISRUPT = `${KARPENTER_GROUP}/do-not-disrupt`;
const LABEL_ZONE = 'topology.kubernetes.io/zone';

/** A NodeClaim, as far as kubenode reads it. */
export interface NodeClaim extends OwnerObject {
  readonly mayBeDisrupted: boolean;
  readonly isDeleting: boolean;
}

export function nodeClaim(object: KubeObject): NodeClaim {
  const { metadata } = object;
  const labels = metadata.labels ?? {};
  return {
    name: metadata.name,
    providerID: textAt(object, 'status', 'providerID') || undefined,
    node: textAt(object, 'status', 'nodeName') || undefined,
    zone: labels[LABEL_ZONE],
    labels,
    mayBeDisrupted: mayBeDisrupted(object),
    isDeleting: metadata.deletionTimestamp !== undefined,
  };
}

/** Each value but `false` counts: a later version of Karpenter may give one a meaning. */
export function mayBeDisrupted({ metadata: { annotations = {} } }: KubeObject): boolean {
  return (annotations[ANNOTATION_DO_NOT_DISRUPT] ?? 'false') === 'false';
}

/** Returns the taints of Karpenter that show that a Node does not serve. */
export function karpenterTaints(node: KubeObject): readonly string[] {
  const keys = listAt(node, 'spec', 'taints').map((taint) => textAt(taint, 'key'));
  return [TAINT_DISRUPTED, TAINT_UNREGISTERED].filter((key) => keys.includes(key));
}

/** Returns the parts of a NodeClaim that are kept in memory: no requirements, resources and conditions. */
export function trimNodeClaim(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  return {
    apiVersion,
    kind,
    metadata: keptMetadata(metadata, 'labels', 'annotations', 'deletionTimestamp'),
    status: {
      providerID: textAt(object, 'status', 'providerID'),
      nodeName: textAt(object, 'status', 'nodeName'),
    },
  };
}
