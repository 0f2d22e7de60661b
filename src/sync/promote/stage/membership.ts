/** Which stage a cluster belongs to. Pure. */
import type { Cluster, Stage } from '../../../api/generated/types.ts';
import { LABEL_ENVIRONMENT, LABEL_REGION } from '../../../api/names.ts';
import { isSelected, type Labels } from '../../../kube/objects/selector.ts';

export type Membership =
  | { readonly kind: 'Member'; readonly stage: string }
  | { readonly kind: 'Unassigned' }
  /** Two stages, or two pipelines, would tell it two things: it gets neither. */
  | { readonly kind: 'Contested'; readonly stages: readonly string[] };

export function membershipOf(cluster: Cluster, stages: readonly Stage[]): Membership {
  const labels = labelsOf(cluster);
  const names = stages
    .filter(({ clusterSelector }) => isSelected(clusterSelector, labels))
    .map(({ name }) => name);
  const [stage] = names;
  if (stage === undefined) return { kind: 'Unassigned' };
  return names.length === 1 ? { kind: 'Member', stage } : { kind: 'Contested', stages: names };
}

/** Labels as selectors see them. Environment and region come from the spec, whatever the labels claim. */
export function labelsOf({ metadata, spec }: Pick<Cluster, 'metadata' | 'spec'>): Labels {
  return {
    ...metadata.labels,
    [LABEL_ENVIRONMENT]: spec.environment,
    ...(spec.region === undefined ? {} : { [LABEL_REGION]: spec.region }),
  };
}
