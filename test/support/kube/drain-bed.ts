/** Pods of the node `n1`, and a small cluster that evicts them as an API server does. */
import type { Client, ListOptions } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { EvictionOutcome } from '../../../src/kube/controller/writes/evict.ts';
import { coveringBudgets } from '../../../src/kube/drain/budgets.ts';
import type { DrainInput } from '../../../src/kube/drain/plan.ts';
import { uidOf } from '../../../src/kube/drain/pods.ts';
import {
  type DrainPorts,
  type DrainRequest,
  type DrainStep,
  stepDrain,
} from '../../../src/kube/drain/step.ts';
import type { KubeObject, Metadata, Resource } from '../../../src/kube/objects/object.ts';
import { node } from '../builders.ts';
import { NOW, type VirtualClock, virtualClock } from '../virtual-clock.ts';

/** The UID is `uid-` and the name unless given. */
export function drainPod(
  name: string,
  { phase = 'Running', nodeName = 'n1', ...metadata }: DrainPodParts = {},
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', uid: `uid-${name}`, ...metadata, name },
    spec: { nodeName, containers: [{ name: 'main', image: 'x' }] },
    status: { phase },
  };
}

export type DrainPodParts = Partial<Metadata> & { readonly phase?: string; readonly nodeName?: string };

export function budget(name: string, selector: unknown, namespace = 'shop'): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { selector },
  };
}

export function drainInput(change: Partial<DrainInput> = {}): DrainInput {
  return {
    nodeName: 'n1',
    isCordoned: true,
    kubeletAnswers: true,
    pods: [],
    answers: new Map(),
    options: { deadNode: 'Wait' },
    now: NOW,
    ...change,
  };
}

export const CORDONED: KubeObject = { ...node('n1'), spec: { unschedulable: true } };

export interface DrainBed {
  readonly clock: VirtualClock;
  pods: KubeObject[];
  budgets: KubeObject[];
  /** How many evictions each budget, by `namespace/name`, still allows: none unless set. */
  readonly allowed: Map<string, number>;
  /** The pods, by UID, whose evictions were sent. */
  readonly sent: string[];
  /** The errors that the next evictions of a pod, by name, get instead of an answer. */
  readonly errors: Map<string, Error>;
  /** The pods, by UID, whose evictions were accepted. */
  readonly accepted: string[];
  /** What listing the budgets gets instead of an answer. */
  budgetsError: Error | undefined;
  /** The n-th call from now on, lists included, gets no answer: it is lost before or after the server handles it. */
  loseCall(n: number, when: 'before' | 'after'): void;
  /** The most evictions that were in flight at once. */
  inFlight(): number;
  step(change?: Partial<DrainRequest>): Promise<DrainStep>;
}

export function drainBed(pods: readonly KubeObject[]): DrainBed {
  const clock = virtualClock();
  const allowed = new Map<string, number>();
  const sent: string[] = [];
  const accepted: string[] = [];
  const errors = new Map<string, Error>();
  let lost: { n: number; readonly when: 'before' | 'after' } | undefined;
  let [inFlight, mostInFlight] = [0, 0];
  const { signal } = new AbortController();
  const pages = (resource: Resource, options?: ListOptions): AsyncIterable<never> =>
    list(resource, options) as AsyncIterable<never>;
  const client: Pick<Client, 'pages'> = { pages };
  const ports: DrainPorts = { client, evict: answer, clock, signal };
  const bed: DrainBed = {
    clock,
    pods: [...pods],
    budgets: [],
    allowed,
    sent,
    accepted,
    errors,
    budgetsError: undefined,
    loseCall: (n, when) => {
      lost = { n, when };
    },
    inFlight: () => mostInFlight,
    step: (change = {}) =>
      stepDrain(ports, {
        node: CORDONED,
        kubeletAnswers: true,
        options: { deadNode: 'Wait' },
        answers: new Map(),
        ...change,
      }),
  };
  return bed;

  async function* list(
    { kind }: Resource,
    { namespace, fieldSelector }: ListOptions = {},
  ): AsyncGenerator<{
    readonly items: readonly KubeObject[];
    readonly resourceVersion: string;
  }> {
    if (isLost()) throw new KubeError('Unreachable', 'reset');
    if (kind !== 'Pod' && bed.budgetsError) throw bed.budgetsError;
    const ofKind = kind === 'Pod' ? bed.pods : bed.budgets;
    const items = ofKind.filter(
      ({ metadata, spec }) =>
        (namespace === undefined || metadata.namespace === namespace) &&
        (fieldSelector === undefined ||
          fieldSelector === `spec.nodeName=${(spec as { nodeName?: string }).nodeName}`),
    );
    for (let from = 0; from < items.length; from += 2) {
      yield { items: items.slice(from, from + 2), resourceVersion: '1' };
    }
  }

  async function answer(pod: KubeObject): Promise<EvictionOutcome> {
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    sent.push(pod.metadata.uid ?? '');
    await Promise.resolve();
    inFlight -= 1;
    const error = errors.get(pod.metadata.name);
    if (error) throw error;
    const when = isLost();
    if (when === 'before') throw new KubeError('Unreachable', 'reset');
    const outcome = evict(pod);
    if (when === 'after') throw new KubeError('Unreachable', 'reset');
    return outcome;
  }

  function isLost(): 'before' | 'after' | undefined {
    if (!lost) return undefined;
    lost.n -= 1;
    return lost.n === 0 ? lost.when : undefined;
  }

  function evict({ metadata: { name, namespace, uid } }: KubeObject): EvictionOutcome {
    const isAsked = ({ metadata }: KubeObject): boolean =>
      metadata.name === name && metadata.namespace === namespace;
    const live = bed.pods.find(isAsked);
    if (!live) return { evicted: true };
    const [first, second] = coveringBudgets(live, bed.budgets);
    if (second) throw new KubeError('ServerError', 'more than one PodDisruptionBudget', { status: 500 });
    if (first && !allowed.get(first)) return { evicted: false, because: `${first} allows none` };
    if (live.metadata.uid !== uid) throw new KubeError('Conflict', 'another uid', { status: 409 });
    if (first) allowed.set(first, (allowed.get(first) ?? 0) - 1);
    accepted.push(uidOf(live));
    const deletionTimestamp = new Date(clock.now().getTime() + 30_000).toISOString();
    bed.pods = bed.pods.map((pod) =>
      pod === live ? { ...live, metadata: { ...live.metadata, deletionTimestamp } } : pod,
    );
    return { evicted: true };
  }
}
