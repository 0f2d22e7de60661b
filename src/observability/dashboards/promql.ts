/** Writes queries of Prometheus from the rows of the table of metrics, so that no name and no label is written twice. Pure. */
import type { MetricRow } from '../../kube/process/metrics.ts';
import { MACHINES_BY_STATE } from '../metrics/machine.ts';
import { BUILD_INFO } from '../metrics/process.ts';
import { METRIC_PREFIX, type MetricProcess } from '../metrics/table.ts';

/** Values that a label must have one of. */
type Matchers<L extends string> = Readonly<Partial<Record<L, string | readonly string[]>>>;
type Label<L extends string> = L | 'cluster';

export interface QueryOptions<L extends string> {
  readonly where?: Matchers<NoInfer<L>>;
  /** `cluster` is the label of the targets of a cluster, or that of the metric itself. */
  readonly by?: readonly Label<NoInfer<L>>[];
}

export interface EventOptions<L extends string> extends QueryOptions<L> {
  readonly window: string;
}

export interface ProcessQuery<L extends string> {
  readonly where?: Matchers<L>;
  /** For a counter: what was added within it. */
  readonly window?: string;
  /** The part of a histogram, such as `_count`. */
  readonly suffix?: string;
}

/** The clusters that the person chose. A Prometheus of one cluster has no such label: the default `.*` matches that, too. */
const CHOSEN_CLUSTERS = 'cluster=~"$cluster"';
/**
 * Returns a query without the variable of Grafana. With a name it reads the series of that cluster and no others; with an empty one those
 * without the label, as a Prometheus of one cluster has them.
 */
export function chooseCluster(query: string, name: string | undefined): string {
  // A string of PromQL has the escapes of JSON.
  const chosen = name === undefined ? 'cluster=~".*"' : `cluster=${JSON.stringify(name)}`;
  return query.replaceAll(CHOSEN_CLUSTERS, () => chosen);
}

/** Its values of `cluster` are what a person chooses from. */
export const CLUSTER_SERIES = `${METRIC_PREFIX}${MACHINES_BY_STATE.name}`;
/** The window that Grafana derives from the resolution of the panel. */
export const RESOLUTION = '$__rate_interval';

/** Sums over the clusters, with replicas that tell the same counted once. */
export function total<L extends string>(row: MetricRow<L>, options: QueryOptions<L> = {}): string {
  const labels = [...new Set(['cluster', ...Object.keys(row.labels ?? {})])];
  return `sum${byLabels(options.by)}(max by (${labels.join(', ')})(${series(row, options.where)}))`;
}

export function highest<L extends string>(row: MetricRow<L>, options: QueryOptions<L> = {}): string {
  return `max${byLabels(options.by)}(${series(row, options.where)})`;
}

export function lowest<L extends string>(row: MetricRow<L>, options: QueryOptions<L> = {}): string {
  return `min${byLabels(options.by)}(${series(row, options.where)})`;
}

/** Counts what happened in the window. Only the process that leads counts, so that replicas are summed. */
export function events<L extends string>(row: MetricRow<L>, { where, by, window }: EventOptions<L>): string {
  return `sum${byLabels(by)}(increase(${series(row, where)}[${window}]))`;
}

/** Returns the time within which this share of the events of the window ended. */
export function quantile<L extends string>(
  share: number,
  row: MetricRow<L>,
  { where, by = [], window }: EventOptions<L>,
): string {
  const buckets = `increase(${series(row, where, '_bucket')}[${window}])`;
  return `histogram_quantile(${share}, sum by (${['le', ...by].join(', ')}) (${buckets}))`;
}

/** 0 where the query has no series although the process that would have them is scraped; without that it stays empty. */
export function zeroWhile(served: 'machines are counted' | 'sync is scraped', query: string): string {
  return `${query} or 0 * sum(${SERVED[served]})`;
}

/** Returns the series of a metric that every process has, of the processes of one part. */
export function seriesIn<L extends string>(
  process: Exclude<MetricProcess, 'agent'>,
  row: MetricRow<L>,
  { where, window, suffix = '' }: ProcessQuery<NoInfer<L>> = {},
): string {
  const filter = process === 'controllers' ? [CHOSEN_CLUSTERS] : [];
  const own = nameOf(row, suffix) + braces([...filter, ...matchersOf(where)]);
  const values = window === undefined ? own : `increase(${own}[${window}])`;
  return `${values} and on (job, instance) ${nameOf(BUILD_INFO)}${braces(matchersOf({ process }))}`;
}

export function series<L extends string>(
  row: MetricRow<L>,
  where?: Matchers<NoInfer<L>>,
  suffix = '',
): string {
  const filter = isOfCluster(row.processes) ? [CHOSEN_CLUSTERS] : [];
  return nameOf(row, suffix) + braces([...filter, ...matchersOf(where)]);
}

/** Returns what a recording rule made of the chosen clusters. */
export function recorded(name: string): string {
  return name + braces([CHOSEN_CLUSTERS]);
}

const SERVED = {
  'machines are counted': series(MACHINES_BY_STATE),
  'sync is scraped': series(BUILD_INFO, { process: 'sync' }),
};

/** The metrics of sync and hosting are of the hub; their label `cluster` is another one. */
function isOfCluster(processes: readonly string[]): boolean {
  return !processes.includes('sync') && !processes.includes('hosting');
}

function nameOf({ name }: { readonly name: string }, suffix = ''): string {
  return `${METRIC_PREFIX}${name}${suffix}`;
}

function byLabels(labels: readonly string[] = []): string {
  return labels.length === 0 ? '' : ` by (${labels.join(', ')}) `;
}

function matchersOf(where: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return Object.entries(where).map(([label, value]) =>
    Array.isArray(value) ? `${label}=~"${value.join('|')}"` : `${label}="${String(value)}"`,
  );
}

function braces(matchers: readonly string[]): string {
  return matchers.length === 0 ? '' : `{${matchers.join(',')}}`;
}
