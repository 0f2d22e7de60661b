/** The pods of a node that request most of a resource. Nothing here knows what they use. Pure. */
import { podName, skipReason } from '../../../../kube/drain/pods.ts';
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

/** A container without a request is counted by its limit. */
function requestOf(pod: KubeObject, resource: string): number {
  return listAt(pod, 'spec', 'containers')
    .map((container) => {
      const resources = valueAt(container, 'resources');
      return valueAt(resources, 'requests', resource) ?? valueAt(resources, 'limits', resource);
    })
    .reduce<number>((sum, quantity) => sum + amountOf(quantity), 0);
}

const QUANTITY = /^([0-9.]+(?:e[0-9]+)?)([a-zA-Z]{0,2})$/;
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** A Kubernetes quantity. Zero for one that cannot be read. */
function amountOf(quantity: unknown): number {
  const text = typeof quantity === 'number' ? String(quantity) : quantity;
  if (typeof text !== 'string') return 0;
  const [, amount = '', unit = ''] = QUANTITY.exec(text) ?? [];
  return Number(amount) * (UNITS[unit] ?? 0) || 0;
}
