/** Whether a Node is cordoned, whoever did it. */
import { valueAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

export function isUnschedulable(node: KubeObject | undefined): boolean {
  return valueAt(node, 'spec', 'unschedulable') === true;
}
