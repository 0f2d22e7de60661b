/** How many names of each kind a metric keeps apart. A cluster with more has the others as `other`, and a note in docs/reference/metrics.md. */
import type { LabelValues } from '../../kube/process/label-bounds.ts';

/** MachineComponentSets of a cluster: each of their metrics has up to 13 series a set. */
export const SET_NAMES: LabelValues = { of: 'MachineComponentSets', most: 100 };
/** NodeRemediers of a cluster: each of their histograms has up to 15 series a rule. */
export const RULES: LabelValues = { of: 'NodeRemediers', most: 100 };
export const COMPONENTS: LabelValues = { of: 'components', most: 200 };
/** Clusters of a hub. */
export const CLUSTERS: LabelValues = { of: 'Clusters', most: 500 };
export const PIPELINES: LabelValues = { of: 'Pipelines', most: 100 };
export const CONDITION_REASONS: LabelValues = { of: 'reasons of conditions', most: 60 };
/** Stages of one Pipeline. */
export const STAGE_NAMES: LabelValues = { of: 'stages', most: 32 };
