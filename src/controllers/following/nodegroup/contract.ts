/** Reads Nodes as the objects of node groups, which have no object of their own. Pure. */
import { LABEL_CONTROL_PLANE, taintKeys } from '../../../api/machine/node-state.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { isSelected } from '../../../kube/objects/selector.ts';
import { ANNOTATION_NODE_MACHINE, ANNOTATION_NODE_NAMESPACE } from '../clusterapi/contract.ts';
import { KARPENTER_GROUP, LABEL_NODE_POOL, TAINT_UNREGISTERED } from '../karpenter/contract.ts';
import type { OwnerHold, OwnerObject } from '../owner.ts';
import type { NodeGroupSelector } from './selector.ts';

/** On a Node that cluster-autoscaler drains and deletes. */
export const TAINT_TO_BE_DELETED = 'ToBeDeletedByClusterAutoscaler';
const LABEL_ZONE = 'topology.kubernetes.io/zone';

/** A Node of this cluster, as far as this controller reads it. */
export interface GroupNode extends OwnerObject {
  readonly isToBeDeleted: boolean;
  readonly isDeleting: boolean;
  /** Why no node group has it; undefined: the selector names it, and no other owner has marked it. */
  readonly leftOut: OwnerHold | undefined;
}

export function groupNode(node: KubeObject, selector: NodeGroupSelector): GroupNode {
  const { name, labels = {}, deletionTimestamp } = node.metadata;
  return {
    name,
    node: name,
    providerID: textAt(node, 'spec', 'providerID') || undefined,
    zone: labels[LABEL_ZONE],
    labels,
    isToBeDeleted: taintKeys(node).includes(TAINT_TO_BE_DELETED),
    isDeleting: deletionTimestamp !== undefined,
    leftOut: leftOutOf(node, selector),
  };
}

/** Returns the parts of a Node that `groupNode` reads. */
export function groupNodeParts(node: KubeObject): readonly unknown[] {
  const { labels, annotations = {}, ownerReferences, deletionTimestamp } = node.metadata;
  const marks = [annotations[ANNOTATION_NODE_NAMESPACE], annotations[ANNOTATION_NODE_MACHINE]];
  return [
    textAt(node, 'spec', 'providerID'),
    labels,
    ownerReferences,
    deletionTimestamp,
    marks,
    taintKeys(node),
  ];
}

function leftOutOf(node: KubeObject, { selector, text }: NodeGroupSelector): OwnerHold | undefined {
  const { name, labels = {} } = node.metadata;
  if (!isSelected(selector, labels)) {
    return { reason: 'NotSelected', message: `Node ${name} does not have the labels ${text}` };
  }
  if (Object.hasOwn(labels, LABEL_CONTROL_PLANE)) {
    return { reason: 'ControlPlane', message: `Node ${name} is of the control plane` };
  }
  const other = markedOwner(node);
  return other === undefined
    ? undefined
    : { reason: 'NodeOfAnother', message: `Node ${name} belongs to ${other}` };
}

/** Returns the other owner that has marked the Node. Karpenter does so before the Node joins, Cluster API when it has found it. */
function markedOwner(node: KubeObject): string | undefined {
  const { annotations = {} } = node.metadata;
  const machine = annotations[ANNOTATION_NODE_MACHINE];
  if (machine === undefined) return isOfKarpenter(node) ? 'Karpenter' : undefined;
  return `Machine ${annotations[ANNOTATION_NODE_NAMESPACE] ?? ''}/${machine} of Cluster API`;
}

function isOfKarpenter(node: KubeObject): boolean {
  const { labels = {}, ownerReferences = [] } = node.metadata;
  return (
    Object.hasOwn(labels, LABEL_NODE_POOL) ||
    taintKeys(node).includes(TAINT_UNREGISTERED) ||
    ownerReferences.some(({ apiVersion }) => apiVersion.startsWith(`${KARPENTER_GROUP}/`))
  );
}
