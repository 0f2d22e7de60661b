/** The pods of a node that request most of a resource. Nothing here knows what they use. Pure. */
import { podName, skipReason } from '../../../../kube/drain/pods.ts';
import { milliQuantity } from '../../../../kube/drain/quantity.ts';
import { listAt, valueAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';

/** The largest first; without those that a drain leaves alone, that end already, or that came after this time. */
export function largestPods(
  pods: readonly KubeObject[],
  resource: string,
  before: Date,
): readonly KubeObject[] {
  return pods
    .filter((pod) => isCandidate(pod, before))
    .map((pod) => ({ pod, amount: requestOf(pod, resource), name: podName(pod) }))
    .filter(({ amount }) => amount > 0)
    .toSorted((a, b) => b.amount - a.amount || (a.name < b.name ? -1 : 1))
    .map(({ pod }) => pod);
}

function isCandidate(pod: KubeObject, before: Date): boolean {
  const { deletionTimestamp, creationTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return false;
  const isNew = Date.parse(creationTimestamp ?? '') > before.getTime();
  return !isNew && skipReason(pod, { deadNode: 'Wait' }, true) === undefined;
}

/** A container without a request is counted by its limit; a quantity that cannot be read is zero. In thousandths. */
function requestOf(pod: KubeObject, resource: string): number {
  return listAt(pod, 'spec', 'containers')
    .map((container) => {
      const resources = valueAt(container, 'resources');
      return valueAt(resources, 'requests', resource) ?? valueAt(resources, 'limits', resource);
    })
    .reduce<number>((sum, quantity) => sum + (milliQuantity(quantity) ?? 0), 0);
}
