/** Adds up the requests of a Pod as kube-scheduler counts them. Pure. */
import { milliQuantity } from '../../kube/drain/quantity.ts';
import { isRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';

/** By resource, in thousandths. */
export type Amounts = ReadonlyMap<string, number>;

export function amountOf(amounts: Amounts | undefined, resource: string): number {
  return amounts?.get(resource) ?? 0;
}

/** Returns undefined when a quantity cannot be read. */
export function amountsOf(quantities: unknown): Amounts | undefined {
  if (quantities === undefined) return new Map();
  if (!isRecord(quantities)) return undefined;
  const amounts = new Map<string, number>();
  for (const [name, quantity] of Object.entries(quantities)) {
    const amount = milliQuantity(quantity);
    if (amount === undefined) return undefined;
    amounts.set(name, amount);
  }
  return amounts;
}

/**
 * Containers and sidecars run together; each other init container runs before the containers, beside the sidecars that were started
 * before it. The overhead of the RuntimeClass comes on top. What the Pod requests as a whole replaces the sum.
 */
export function requestedAmounts(pod: unknown): Amounts | undefined {
  const running = runningRequests(pod);
  const whole = amountsOf(valueAt(pod, 'spec', 'resources', 'requests'));
  const overhead = amountsOf(valueAt(pod, 'spec', 'overhead'));
  if (!running || !whole || !overhead) return undefined;
  const requests = new Map([...running, ...whole]);
  addTo(requests, overhead);
  return requests.set('pods', 1000);
}

function runningRequests(pod: unknown): Amounts | undefined {
  const running = new Map<string, number>();
  const peak = new Map<string, number>();
  for (const container of listAt(pod, 'spec', 'initContainers')) {
    const requests = containerRequests(container);
    if (!requests) return undefined;
    const isSidecar = textAt(container, 'restartPolicy') === 'Always';
    if (isSidecar) addTo(running, requests);
    raiseTo(peak, isSidecar ? running : sumOf(running, requests));
  }
  for (const container of listAt(pod, 'spec', 'containers')) {
    const requests = containerRequests(container);
    if (!requests) return undefined;
    addTo(running, requests);
  }
  raiseTo(peak, running);
  return peak;
}

/** The API server sets requests from limits where only limits are given. */
function containerRequests(container: unknown): Amounts | undefined {
  return amountsOf(valueAt(container, 'resources', 'requests'));
}

export function addTo(sum: Map<string, number>, amounts: Amounts, sign: 1 | -1 = 1): void {
  for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0) + sign * amount);
}

function sumOf(a: Amounts, b: Amounts): Amounts {
  const sum = new Map(a);
  addTo(sum, b);
  return sum;
}

function raiseTo(peak: Map<string, number>, amounts: Amounts): void {
  for (const [name, amount] of amounts) peak.set(name, Math.max(peak.get(name) ?? 0, amount));
}
