/**
 * Counts the Pods of each domain of a topology once for each question of a decision, and keeps the counts current while Pods are placed:
 * replicas ask the same question. Pure.
 */
import type { CapacityNode } from './node.ts';
import type { CapacityPod } from './pod.ts';

export interface DomainQuestion {
  /** Equal questions have equal keys. */
  readonly key: string;
  /** Those that stay where they are, and maybe others. */
  readonly pods: () => Iterable<CapacityPod>;
  readonly isCounted: (pod: CapacityPod) => boolean;
  /** Undefined: the node is in none. */
  readonly domainOf: (node: CapacityNode) => string | undefined;
}

/** Only domains with a Pod are counted. */
export interface DomainCount {
  count: number;
  /** The name of one of the Pods. */
  readonly example: string;
}

export type DomainCounts = ReadonlyMap<string, DomainCount>;

export type Placed = readonly [CapacityPod, CapacityNode];

export interface DomainCounter {
  count(question: DomainQuestion): DomainCounts;
  /** Returns the domains of all nodes, with Pods or without. */
  domains(question: Pick<DomainQuestion, 'key' | 'domainOf'>): ReadonlySet<string>;
}

export interface DomainCounterInput {
  readonly nodes: () => Iterable<CapacityNode>;
  /** Where a Pod stays during the decision; undefined: it leaves its node, or has none. */
  readonly nodeOf: (pod: CapacityPod) => CapacityNode | undefined;
  /** Pods in the order in which they were placed. Grows. */
  readonly moved: readonly Placed[];
}

interface KnownCounts {
  readonly counts: Map<string, DomainCount>;
  /** So many of the moved Pods are counted. */
  counted: number;
}

export function createDomainCounter({ nodes, nodeOf, moved }: DomainCounterInput): DomainCounter {
  const known = new Map<string, KnownCounts>();
  const knownDomains = new Map<string, ReadonlySet<string>>();
  return {
    count(question) {
      const found = known.get(question.key) ?? begin(question);
      for (; found.counted < moved.length; found.counted += 1) {
        const [pod, node] = moved[found.counted] ?? [];
        if (pod && node && question.isCounted(pod)) add(found.counts, question.domainOf(node), pod);
      }
      return found.counts;
    },
    domains({ key, domainOf }) {
      const domains = knownDomains.get(key) ?? domainsBy(domainOf);
      knownDomains.set(key, domains);
      return domains;
    },
  };

  function domainsBy(domainOf: DomainQuestion['domainOf']): ReadonlySet<string> {
    const domains = new Set<string>();
    for (const node of nodes()) {
      const domain = domainOf(node);
      if (domain !== undefined) domains.add(domain);
    }
    return domains;
  }

  function begin({ key, pods, isCounted, domainOf }: DomainQuestion): KnownCounts {
    const counts = new Map<string, DomainCount>();
    for (const pod of pods()) {
      const node = isCounted(pod) ? nodeOf(pod) : undefined;
      if (node) add(counts, domainOf(node), pod);
    }
    const begun = { counts, counted: 0 };
    known.set(key, begun);
    return begun;
  }
}

function add(counts: Map<string, DomainCount>, domain: string | undefined, { name }: CapacityPod): void {
  if (domain === undefined) return;
  const found = counts.get(domain);
  if (found) found.count += 1;
  else counts.set(domain, { count: 1, example: name });
}
