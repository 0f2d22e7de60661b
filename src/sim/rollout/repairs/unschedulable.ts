/** Whether a Node is cordoned, by a person or by a controller. */
import { valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

export function isUnschedulable(node: KubeObject | undefined): boolean {
  return valueAt(node, 'spec', 'unschedulable') === true;
}
