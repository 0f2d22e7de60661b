/** The cordon of a Node as the status of its Machine mirrors it, for people who may not read Nodes. Pure. */
import type { MachineNodeCordon } from '../../../api/generated/types.ts';
import { isCordoned } from '../../../api/machine/node-state.ts';
import { ANNOTATION_CORDONED_BY } from '../../../api/names.ts';
import { listAt, ownValue, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';

/** The taint that the node lifecycle controller adds to each Node that is cordoned. */
const TAINT_UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';
/** The most characters of a grant that are shown. Ids of grants are shorter, but a client that may write Nodes may write any text. */
const MAX_GRANT = 64;

/** Returns the cordon of a Node. `before` is what was reported of the same Node. */
export function observedCordon(
  node: KubeObject,
  before: MachineNodeCordon | undefined,
  now: Date,
): MachineNodeCordon | undefined {
  if (!isCordoned(node)) return undefined;
  const grant = ownValue(node.metadata.annotations ?? {}, ANNOTATION_CORDONED_BY)?.slice(0, MAX_GRANT);
  return { ...optional('grant', grant), since: before?.since ?? taintedAt(node) ?? now.toISOString() };
}

/** Tells whether kubenode works on the Node: it is cordoned under a grant. A cordon of a person has no grant. */
export function isInMaintenance(node: KubeObject): boolean {
  return isCordoned(node) && ownValue(node.metadata.annotations ?? {}, ANNOTATION_CORDONED_BY) !== undefined;
}

/** Returns when the taint was added. Taints from before the Node was read tell when a cordon began that no controller observed. */
function taintedAt(node: KubeObject): string | undefined {
  const taint = listAt(node, 'spec', 'taints').find((each) => textAt(each, 'key') === TAINT_UNSCHEDULABLE);
  return textAt(taint, 'timeAdded');
}
