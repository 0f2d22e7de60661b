/** Tells whether other Pods keep a Pod away from a topology, by affinity, anti-affinity and spread. Pure. */
import { ownValue } from '../../kube/objects/json.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import type { CapacityNode } from './node.ts';
import { matchesNode, refusingTaint } from './node-rules.ts';
import type { CapacityPod, PodNeeds, PodTerm, Spread } from './pod.ts';

/** Where Pods are while one after the other is placed. */
export interface Places {
  placed(): Iterable<readonly [CapacityPod, CapacityNode]>;
  keepingApart(): Iterable<readonly [CapacityPod, CapacityNode]>;
  nodes(): Iterable<CapacityNode>;
}

/** Returns an objection to the node; undefined: none. */
export type TopologyRule = (node: CapacityNode) => string | undefined;

export function topologyRules(pod: CapacityPod, needs: PodNeeds, places: Places): readonly TopologyRule[] {
  return [
    ...othersApart(pod, places),
    ...needs.apart.map((term) => apartFrom(term, places)),
    ...nearTo(pod, needs, places),
    ...needs.spread.map((each) => spreadOver(each, { pod, needs, places })),
  ];
}

function isMeant({ namespaces, selector }: PodTerm, { namespace, labels }: CapacityPod): boolean {
  return (namespaces?.includes(namespace) ?? true) && isSelected(selector, labels);
}

function othersApart(pod: CapacityPod, places: Places): readonly TopologyRule[] {
  const rules: TopologyRule[] = [];
  for (const [other, at] of places.keepingApart()) {
    for (const term of other.needs?.apart ?? []) {
      const domain = ownValue(at.labels, term.topologyKey);
      if (domain === undefined || !isMeant(term, pod)) continue;
      rules.push(({ labels }) =>
        ownValue(labels, term.topologyKey) === domain ? `anti-affinity of ${other.name}` : undefined,
      );
    }
  }
  return rules;
}

function domainsOf(term: PodTerm, places: Places): ReadonlySet<string> {
  const domains = new Set<string>();
  for (const [other, { labels }] of places.placed()) {
    const domain = ownValue(labels, term.topologyKey);
    if (domain !== undefined && isMeant(term, other)) domains.add(domain);
  }
  return domains;
}

function apartFrom(term: PodTerm, places: Places): TopologyRule {
  const domains = domainsOf(term, places);
  return ({ labels }) => {
    const domain = ownValue(labels, term.topologyKey);
    return domain !== undefined && domains.has(domain) ? 'anti-affinity to Pods there' : undefined;
  };
}

/** The first of Pods that want to be near each other may run anywhere, or none could ever start. */
function nearTo(pod: CapacityPod, { near }: PodNeeds, places: Places): readonly TopologyRule[] {
  const terms = near.map((term) => ({ term, domains: domainsOf(term, places) }));
  const isFirst = terms.every(({ term, domains }) => domains.size === 0 && isMeant(term, pod));
  return terms.map(({ term: { topologyKey }, domains }) => ({ labels }) => {
    const domain = ownValue(labels, topologyKey);
    if (domain === undefined) return `no label ${topologyKey}`;
    return isFirst || domains.has(domain) ? undefined : 'no Pods there that it must be near to';
  });
}

interface SpreadInput {
  readonly pod: CapacityPod;
  readonly needs: PodNeeds;
  readonly places: Places;
}

function spreadOver(spread: Spread, input: SpreadInput): TopologyRule {
  const { topologyKey, selector, maxSkew, minDomains } = spread;
  const counts = countDomains(spread, input);
  const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
  const own = isSelected(selector, input.pod.labels) ? 1 : 0;
  return ({ labels }) => {
    const domain = ownValue(labels, topologyKey);
    if (domain === undefined) return `no label ${topologyKey}`;
    return (counts.get(domain) ?? 0) + own - least > maxSkew ? `spread over ${topologyKey}` : undefined;
  };
}

/** Returns the number of Pods that the spread counts, by domain. */
function countDomains(spread: Spread, { pod, needs, places }: SpreadInput): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const node of places.nodes()) {
    const domain = domainIn(spread, needs, node);
    if (domain !== undefined) counts.set(domain, 0);
  }
  for (const [other, node] of places.placed()) {
    if (other.namespace !== pod.namespace || !isSelected(spread.selector, other.labels)) continue;
    const domain = domainIn(spread, needs, node);
    if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  return counts;
}

function domainIn(
  { topologyKey, honorsAffinity, honorsTaints }: Spread,
  needs: PodNeeds,
  node: CapacityNode,
): string | undefined {
  if (honorsAffinity && !matchesNode(needs, node)) return undefined;
  if (honorsTaints && refusingTaint(needs, node)) return undefined;
  return ownValue(node.labels, topologyKey);
}
