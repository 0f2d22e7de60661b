/** Groups Pods by namespace, and terms that keep others apart by whom they mean, so that a decision reads only what can matter. */
import type { CapacityPod, PodTerm } from './pod.ts';

export interface PodGroups {
  /** Undefined: of all namespaces. */
  inNamespaces(namespaces: readonly string[] | undefined): Iterable<CapacityPod>;
  /** Terms that may keep Pods of the namespace away. */
  apartFrom(namespace: string): Iterable<ApartTerm>;
}

/** A term with the Pods that have it: replicas share one. */
export interface ApartTerm {
  readonly term: PodTerm;
  readonly pods: ReadonlySet<CapacityPod>;
}

export interface OpenPodGroups extends PodGroups {
  add(pod: CapacityPod): void;
  remove(pod: CapacityPod): void;
}

interface OpenGroup {
  readonly pods: Set<CapacityPod>;
}

interface OpenTerm extends OpenGroup {
  readonly term: PodTerm;
}

/** No namespace has this name. */
const ALL = '*';

export function createPodGroups(): OpenPodGroups {
  const byNamespace = new Map<string, OpenGroup>();
  /** By the namespace that is meant, and by the key of the term. */
  const terms = new Map<string, Map<string, OpenTerm>>();
  return {
    *inNamespaces(namespaces) {
      for (const name of namespaces ?? byNamespace.keys()) yield* byNamespace.get(name)?.pods ?? [];
    },
    *apartFrom(namespace) {
      yield* terms.get(namespace)?.values() ?? [];
      yield* terms.get(ALL)?.values() ?? [];
    },
    add(pod) {
      at(byNamespace, pod.namespace, (): OpenGroup => ({ pods: new Set() })).pods.add(pod);
      for (const [name, term] of meantBy(pod)) {
        const ofNamespace = at(terms, name, () => new Map<string, OpenTerm>());
        at(ofNamespace, term.key, (): OpenTerm => ({ term, pods: new Set() })).pods.add(pod);
      }
    },
    remove(pod) {
      forget(byNamespace, pod.namespace, pod);
      for (const [name, { key }] of meantBy(pod)) {
        const ofNamespace = terms.get(name);
        if (!ofNamespace) continue;
        forget(ofNamespace, key, pod);
        if (ofNamespace.size === 0) terms.delete(name);
      }
    },
  };
}

function* meantBy({ needs }: CapacityPod): Iterable<readonly [string, PodTerm]> {
  for (const term of needs?.apart ?? []) {
    for (const name of term.namespaces ?? [ALL]) yield [name, term];
  }
}

function at<T>(map: Map<string, T>, key: string, create: () => T): T {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}

function forget(groups: Map<string, OpenGroup>, key: string, pod: CapacityPod): void {
  const pods = groups.get(key)?.pods;
  pods?.delete(pod);
  if (pods?.size === 0) groups.delete(key);
}
