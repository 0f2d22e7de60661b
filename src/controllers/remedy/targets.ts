/** Which machines a rule is for, and how many of them it may match. Pure. */
import type { Machine, NodeRemedier } from '../../api/generated/types.ts';
import { LABEL_CONTROL_PLANE } from '../../api/machine/node-state.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { isSelected, type Labels } from '../../kube/objects/selector.ts';
import type { RemedyFinding } from './findings.ts';

/** The Machine wins: a kubelet may set labels of its own Node. */
export function labelsOf({ spec, metadata }: Machine, node: KubeObject | undefined): Labels {
  return { ...node?.metadata.labels, ...spec.node.labels, ...metadata.labels };
}

export function isControlPlane(labels: Labels): boolean {
  return labels[LABEL_CONTROL_PLANE] !== undefined;
}

export function isTarget({ spec: { target } }: Pick<NodeRemedier, 'spec'>, labels: Labels): boolean {
  if (target.controlPlane === 'Never' && isControlPlane(labels)) return false;
  if (target.exclude && isSelected(target.exclude, labels)) return false;
  return isSelected(target.nodeSelector, labels);
}

/** How much of its targets a rule matches. */
export interface MatchBound {
  readonly targets: number;
  /** Targets that were not evaluated since this process began. */
  readonly unseen: number;
  readonly matched: number;
  /** Targets for which the result is Indeterminate. */
  readonly unknown: number;
  readonly limit: number;
  readonly percent: number;
}

export function matchBound(
  { spec: { target } }: Pick<NodeRemedier, 'spec'>,
  found: { readonly targets: number; readonly unseen: number },
  findings: ReadonlyMap<string, RemedyFinding>,
): MatchBound {
  const all = [...findings.values()];
  const matched = all.filter(isIll).length;
  const unknown = all.filter(({ outcome }) => outcome === 'Indeterminate').length;
  // One machine may always be repaired: a fleet may be small.
  const limit = Math.max(1, Math.floor((found.targets * target.maxMatchPercent) / 100));
  return { ...found, matched, unknown, limit, percent: target.maxMatchPercent };
}

export function isWithin({ matched, limit }: MatchBound): boolean {
  return matched <= limit;
}

export function boundText({ matched, targets, limit, percent }: MatchBound): string {
  return `${matched} of ${targets} targets match, and at most ${limit} may (${percent} %)`;
}

/** A closed gate does not mean that the node is well. */
export function isIll({ outcome }: Pick<RemedyFinding, 'outcome'>): boolean {
  return outcome === 'Match' || outcome === 'Held';
}
