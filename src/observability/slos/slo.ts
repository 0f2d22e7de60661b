/** Declares a service level objective: the share of something that must be good, over 30 days. */
import { METRIC_PREFIX } from '../metrics/table.ts';

export interface Slo {
  /** In the label `slo` of every rule: lower case, joined by hyphens. */
  readonly name: string;
  /** In CamelCase: the alerts are `<alert>BurnsFast` and `<alert>BurnsSlowly`. */
  readonly alert: string;
  /** The promise, for people. */
  readonly promise: string;
  /** The share that must be good, such as 0.995. */
  readonly objective: number;
  readonly indicator: Indicator;
  /** Where its processes run: a hub, or each cluster. */
  readonly scope: RuleScope;
  /** The section of docs/runbooks/alerts.md. */
  readonly runbook: string;
}

export type RuleScope = 'hub' | 'cluster';

export type Indicator = StateIndicator | DurationIndicator;

/** A gauge by state: of those that are good or bad, the share that is good. Other states are not counted. */
export interface StateIndicator {
  readonly type: 'States';
  readonly gauge: string;
  readonly label: string;
  readonly good: string;
  readonly bad: string;
}

/** A histogram: the share of its events that took at most so long. The limit is one of its buckets. */
export interface DurationIndicator {
  readonly type: 'Durations';
  readonly histogram: string;
  readonly limitSeconds: number;
  /** In a window with fewer events nothing is alerted: one slow event of two is not a trend. */
  readonly minEvents: number;
}

/** Returns the query of the share of bad things in a window such as `5m`. Without data or events it has no sample. */
export function errorRatio({ indicator }: Pick<Slo, 'indicator'>, window: string): string {
  if (indicator.type === 'Durations') {
    const good = `sum(increase(${bucketOf(indicator)}[${window}]))`;
    return `1 - ${good} / ${eventCount(indicator, window)}`;
  }
  const { gauge, label, good, bad } = indicator;
  const series = (values: string): string => `${METRIC_PREFIX}${gauge}{${label}=~"${values}"}[${window}]`;
  // Several replicas tell the same: a ratio of sums is that of one.
  return `sum(sum_over_time(${series(bad)})) / sum(sum_over_time(${series(`${good}|${bad}`)}))`;
}

export function eventCount({ histogram }: DurationIndicator, window: string): string {
  return `sum(increase(${METRIC_PREFIX}${histogram}_count[${window}]))`;
}

function bucketOf({ histogram, limitSeconds }: DurationIndicator): string {
  return `${METRIC_PREFIX}${histogram}_bucket{le="${limitSeconds}"}`;
}
