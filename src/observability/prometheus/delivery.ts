/** The ratios of the four DORA figures, as queries and as recording rules for dashboards. Pure. */
import { RELEASES } from '../metrics/delivery.ts';
import { COMPONENT_ROLLOUTS } from '../metrics/rollout.ts';
import { METRIC_PREFIX } from '../metrics/table.ts';
import type { RuleGroup } from './rule.ts';

const COMPONENT_FAILURES = 'Stopped|RolledBack';

/** Returns the share of the Releases of a Pipeline that failed or were reverted. Without a start it has no sample. */
export function changeFailureRatio(window: string): string {
  return failureRatio({ metric: RELEASES.name, by: 'pipeline', failed: 'Failed|Reverted', window });
}

/** Returns the share of the rollouts of a component that stopped for a person or were rolled back. */
export function componentFailureRatio(window: string): string {
  return failureRatio({
    metric: COMPONENT_ROLLOUTS.name,
    by: 'component',
    failed: COMPONENT_FAILURES,
    window,
  });
}

interface FailureRatio {
  readonly metric: string;
  readonly by: string;
  /** Values of the label `event`. */
  readonly failed: string;
  readonly window: string;
}

function failureRatio({ metric, by, failed, window }: FailureRatio): string {
  const count = (events: string): string =>
    `sum by (${by}) (increase(${METRIC_PREFIX}${metric}{event=~"${events}"}[${window}]))`;
  return `${count(failed)} / (${count('Started')} > 0)`;
}

/** Weeks for reviews, months for trends. */
const WINDOWS = ['7d', '30d'];

export const RELEASE_GROUP: RuleGroup = {
  name: 'kubenode-delivery',
  recordings: WINDOWS.map((window) => ({
    record: `kubenode:change_failure:ratio_rate${window}`,
    expr: changeFailureRatio(window),
    labels: {},
  })),
  alerts: [],
};

export const COMPONENT_GROUP: RuleGroup = {
  name: 'kubenode-component-rollouts',
  recordings: WINDOWS.map((window) => ({
    record: `kubenode:component_change_failure:ratio_rate${window}`,
    expr: componentFailureRatio(window),
    labels: {},
  })),
  alerts: [],
};
