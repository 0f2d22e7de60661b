/** The labels by which a Cluster is selected. Pure. */
import type { Labels } from '../../kube/objects/selector.ts';
import type { Cluster } from '../generated/types.ts';
import { LABEL_ENVIRONMENT, LABEL_REGION } from '../names.ts';

/** Returns the labels that selectors match. Environment and region come from the spec and override labels of the same name. */
export function selectableLabels({ metadata, spec }: Pick<Cluster, 'metadata' | 'spec'>): Labels {
  return {
    ...metadata.labels,
    [LABEL_ENVIRONMENT]: spec.environment,
    ...(spec.region === undefined ? {} : { [LABEL_REGION]: spec.region }),
  };
}
