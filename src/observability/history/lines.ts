/** Declares the lines that the console shows of the past, as queries of the metrics of the dashboards. Pure. */
import type { MetricRow } from '../../kube/process/metrics.ts';
import { chooseCluster, highest, total } from '../dashboards/promql.ts';
import { DEFENDER_GRANTS } from '../metrics/defender.ts';
import { MACHINES_BY_STATE, MACHINES_CHANGING } from '../metrics/machine.ts';
import { REMEDY_OPEN_JOBS } from '../metrics/repair.ts';
import { ROLLOUT_MACHINES } from '../metrics/rollout.ts';
import { SYNC_CONTACT_AGE } from '../metrics/sync.ts';
import { METRIC_PREFIX } from '../metrics/table.ts';

interface PastLine {
  /** With the variable of Grafana for the clusters. */
  readonly query: string;
  readonly metric: MetricRow<string>;
  /** A long step shows the most or the least within it, so that a short trouble stays visible. */
  readonly within: 'max' | 'min';
}

export const PAST_LINES = {
  ready: { ...machines('Ready'), within: 'min' },
  updated: {
    query: total(ROLLOUT_MACHINES, { where: { state: 'updated' } }),
    metric: ROLLOUT_MACHINES,
    within: 'min',
  },
  changing: { query: total(MACHINES_CHANGING), metric: MACHINES_CHANGING, within: 'max' },
  trouble: { ...machines('NotReady'), within: 'max' },
  repairs: { query: total(REMEDY_OPEN_JOBS), metric: REMEDY_OPEN_JOBS, within: 'max' },
  grants: {
    query: total(DEFENDER_GRANTS, { where: { state: ['Granted', 'Started', 'Suspect'] } }),
    metric: DEFENDER_GRANTS,
    within: 'max',
  },
  contact: { query: highest(SYNC_CONTACT_AGE), metric: SYNC_CONTACT_AGE, within: 'max' },
} as const satisfies Readonly<Record<string, PastLine>>;

export type PastField = keyof typeof PAST_LINES;

/** Up to this step each point is one evaluation: Prometheus scrapes about as often. */
const SHORT_STEP_SECONDS = 60;

/** Returns the query of a line. With a cluster it reads that one alone. */
export function pastQuery(field: PastField, step: number, cluster: string | undefined): string {
  const { query, within } = PAST_LINES[field];
  const chosen = chooseCluster(query, cluster);
  if (step <= SHORT_STEP_SECONDS) return chosen;
  return `${within}_over_time((${chosen})[${step}s:${SHORT_STEP_SECONDS}s])`;
}

/** Returns the name of the metric, as Prometheus stores it. */
export function pastMetric(field: PastField): string {
  return `${METRIC_PREFIX}${PAST_LINES[field].metric.name}`;
}

function machines(state: 'Ready' | 'NotReady') {
  return { query: total(MACHINES_BY_STATE, { where: { state } }), metric: MACHINES_BY_STATE };
}
