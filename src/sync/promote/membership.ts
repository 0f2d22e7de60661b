/** Which stage a cluster belongs to. Pure. */
import type { Cluster, Stage } from '../../api/generated/types.ts';
import { labelsOf, selects } from './selector.ts';

export type Membership =
  | { readonly kind: 'Member'; readonly stage: string }
  | { readonly kind: 'Unassigned' }
  /** Two stages, or two pipelines, would tell it two things: it gets neither. */
  | { readonly kind: 'Contested'; readonly stages: readonly string[] };

export function membershipOf(cluster: Cluster, stages: readonly Stage[]): Membership {
  const labels = labelsOf(cluster);
  const names = stages
    .filter(({ clusterSelector }) => selects(clusterSelector, labels))
    .map(({ name }) => name);
  const [stage] = names;
  if (stage === undefined) return { kind: 'Unassigned' };
  return names.length === 1 ? { kind: 'Member', stage } : { kind: 'Contested', stages: names };
}
