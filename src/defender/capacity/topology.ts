/** Tells whether other Pods keep a Pod away from a topology, by affinity, anti-affinity and spread. Pure. */
import { ownValue } from '../../kube/objects/json.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import type { DomainCounter, DomainCounts } from './domain-counts.ts';
import type { CapacityNode } from './node.ts';
import { matchesNode, refusingTaint } from './node-rules.ts';
import type { CapacityPod, PodNeeds, PodTerm, Spread } from './pod.ts';
import type { PodGroups } from './pod-groups.ts';

/** Where Pods are while one after the other is placed. */
export interface Places {
  readonly groups: PodGroups;
  readonly counter: DomainCounter;
}

/** A Pod that looks for a place. */
export interface PodInPlaces {
  readonly pod: CapacityPod;
  readonly needs: PodNeeds;
  /** Pods with equal needs have equal keys. */
  readonly key: string;
  readonly places: Places;
}

/** Returns an objection to the node; undefined: none. */
export type TopologyRule = (node: CapacityNode) => string | undefined;

export function topologyRules(input: PodInPlaces): readonly TopologyRule[] {
  const { needs, places } = input;
  return [
    ...othersApart(input),
    ...needs.apart.map((term) => apartFrom(term, places)),
    ...nearTo(input),
    ...needs.spread.map((each, index) => spreadOver(each, index, input)),
  ];
}

function isMeant({ namespaces, selector }: PodTerm, { namespace, labels }: CapacityPod): boolean {
  return (namespaces?.includes(namespace) ?? true) && isSelected(selector, labels);
}

function othersApart({ pod, places: { groups, counter } }: PodInPlaces): readonly TopologyRule[] {
  const rules: TopologyRule[] = [];
  for (const { term, pods } of groups.apartFrom(pod.namespace)) {
    if (!isMeant(term, pod)) continue;
    const domains = counter.count({
      key: `with ${term.key}`,
      pods: () => pods,
      isCounted: ({ needs }) => needs?.apart.some(({ key }) => key === term.key) ?? false,
      domainOf: domainBy(term),
    });
    rules.push((node) => {
      const found = domainIn(domains, term, node);
      return found && `anti-affinity of ${found.example}`;
    });
  }
  return rules;
}

function domainBy({ topologyKey }: Pick<PodTerm, 'topologyKey'>): (node: CapacityNode) => string | undefined {
  return ({ labels }) => ownValue(labels, topologyKey);
}

function domainIn(counts: DomainCounts, term: PodTerm, node: CapacityNode): { example: string } | undefined {
  const domain = ownValue(node.labels, term.topologyKey);
  return domain === undefined ? undefined : counts.get(domain);
}

/** Counts the Pods that a term means. */
function countMeant(term: PodTerm, { groups, counter }: Places): DomainCounts {
  return counter.count({
    key: `meant by ${term.key}`,
    pods: () => groups.inNamespaces(term.namespaces),
    isCounted: (other) => isMeant(term, other),
    domainOf: domainBy(term),
  });
}

function apartFrom(term: PodTerm, places: Places): TopologyRule {
  const domains = countMeant(term, places);
  return (node) => (domainIn(domains, term, node) ? 'anti-affinity to Pods there' : undefined);
}

/** The first of Pods that want to be near each other may run anywhere, or none could ever start. */
function nearTo({ pod, needs: { near }, places }: PodInPlaces): readonly TopologyRule[] {
  const terms = near.map((term) => ({ term, domains: countMeant(term, places) }));
  const isFirst = terms.every(({ term, domains }) => domains.size === 0 && isMeant(term, pod));
  return terms.map(({ term: { topologyKey }, domains }) => ({ labels }) => {
    const domain = ownValue(labels, topologyKey);
    if (domain === undefined) return `no label ${topologyKey}`;
    return isFirst || domains.has(domain) ? undefined : 'no Pods there that it must be near to';
  });
}

function spreadOver(spread: Spread, index: number, input: PodInPlaces): TopologyRule {
  const { topologyKey, selector, maxSkew } = spread;
  const counts = countSpread(spread, index, input);
  const least = leastOf(counts, spread, input);
  const own = isSelected(selector, input.pod.labels) ? 1 : 0;
  return ({ labels }) => {
    const domain = ownValue(labels, topologyKey);
    if (domain === undefined) return `no label ${topologyKey}`;
    const there = counts.get(domain)?.count ?? 0;
    return there + own - least > maxSkew ? `spread over ${topologyKey}` : undefined;
  };
}

/** A domain counts although none of the Pods is there. */
function leastOf(counts: DomainCounts, spread: Spread, { needs, places: { counter } }: PodInPlaces): number {
  const domains = counter.domains({ key: domainsKey(spread, needs), domainOf: domainOf(spread, needs) });
  if (domains.size < spread.minDomains || counts.size < domains.size) return 0;
  let least = Infinity;
  // Not by the arguments of a call: there may be as many domains as nodes.
  for (const { count } of counts.values()) least = Math.min(least, count);
  return least;
}

/** Pods of many templates share the domains. */
function domainsKey({ topologyKey, honorsAffinity, honorsTaints }: Spread, needs: PodNeeds): string {
  const { nodeSelector, nodeTerms, tolerations } = needs;
  const affinity = honorsAffinity && { nodeSelector, nodeTerms };
  return JSON.stringify([topologyKey, affinity, honorsTaints && tolerations]);
}

function domainOf(
  { topologyKey, honorsAffinity, honorsTaints }: Spread,
  needs: PodNeeds,
): (node: CapacityNode) => string | undefined {
  return (node) => {
    if (honorsAffinity && !matchesNode(needs, node)) return undefined;
    if (honorsTaints && refusingTaint(needs, node)) return undefined;
    return ownValue(node.labels, topologyKey);
  };
}

function countSpread(
  spread: Spread,
  index: number,
  { pod: { namespace }, needs, key, places: { groups, counter } }: PodInPlaces,
): DomainCounts {
  return counter.count({
    key: `spread ${index} of ${namespace} ${key}`,
    pods: () => groups.inNamespaces([namespace]),
    isCounted: (other) => other.namespace === namespace && isSelected(spread.selector, other.labels),
    domainOf: domainOf(spread, needs),
  });
}
