/**
 * Prometheus metrics. One registry per process, passed as an argument; imports register nothing. Labels have few values:
 * whatever grows with the fleet belongs in a log line. src/observability/metrics/table.ts has the metrics of all parts.
 */
import {
  Counter as LibraryCounter,
  Gauge as LibraryGauge,
  Histogram as LibraryHistogram,
  Registry,
} from '@prometheus-io/client';
import { closedLabelSets, createLabelBounds, type LabelValues } from './label-bounds.ts';

export type MetricLabels<L extends string> = Readonly<Record<L, string>>;

export interface Counter<L extends string = never> {
  add(labels: MetricLabels<L>, by?: number): void;
}

export interface Gauge<L extends string = never> {
  set(labels: MetricLabels<L>, value: number): void;
  /** Removes the value of something that no longer exists. */
  remove(labels: MetricLabels<L>): void;
}

export interface Histogram<L extends string = never> {
  observe(labels: MetricLabels<L>, value: number): void;
  /** Begins with no event: Prometheus does not count the first event of a series that appears with it. */
  begin(labels: MetricLabels<L>): void;
}

export interface MetricOptions<L extends string> {
  /** Without the prefix. Counters end in `_total`, times in `_seconds`, sizes in `_bytes`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: Readonly<Record<L, LabelValues>>;
  /** How many label sets are kept apart, if not all that the values permit. */
  readonly maxSeries?: number;
}

/** A row of the table of metrics. */
export interface MetricDefinition<L extends string = string> extends MetricOptions<L> {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** The upper bounds of the buckets of a histogram. */
  readonly buckets?: readonly number[];
  /** The processes that serve it: parts of the program, such as `controllers`. */
  readonly processes: readonly string[];
  /** The option without which these processes do not serve it. */
  readonly option?: string;
  /** The file that gives it its values. */
  readonly writtenIn: string;
}

/** A row without its type. */
export interface MetricRow<L extends string> extends MetricOptions<L> {
  readonly processes: readonly string[];
  readonly option?: string;
  readonly writtenIn: string;
}

export interface HistogramRow<L extends string> extends MetricRow<L> {
  readonly buckets: readonly number[];
}

export function defineCounter<L extends string = never>(
  row: MetricRow<L>,
): MetricRow<L> & { type: 'counter' } {
  return { type: 'counter', ...row };
}

export function defineGauge<L extends string = never>(row: MetricRow<L>): MetricRow<L> & { type: 'gauge' } {
  return { type: 'gauge', ...row };
}

export function defineHistogram<L extends string = never>(
  row: HistogramRow<L>,
): HistogramRow<L> & { type: 'histogram' } {
  return { type: 'histogram', ...row };
}

export type GaugeSample<L extends string> = readonly [labels: MetricLabels<L>, value: number];

export interface GaugeOptions<L extends string> extends MetricOptions<L> {
  /** Called when the metrics are read, so that an idle process does nothing. */
  readonly read?: () => Iterable<GaugeSample<L>>;
}

export interface Metrics {
  counter<L extends string = never>(options: MetricOptions<L>): Counter<L>;
  gauge<L extends string = never>(options: GaugeOptions<L>): Gauge<L>;
  histogram<L extends string = never>(
    options: MetricOptions<L> & { readonly buckets: readonly number[] },
  ): Histogram<L>;
  /** All metrics in the text format of Prometheus. */
  text(): Promise<string>;
  readonly contentType: string;
}

interface MetricsOptions {
  /** Prefix of every name. */
  readonly prefix?: string;
}

const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

export const SERIES_LEFT_OUT = defineGauge({
  name: 'metric_series_left_out',
  help: 'Label sets of a gauge that are beyond its limit, so that they are not served, by the name of the gauge.',
  labels: { metric: { of: 'gauges', most: 100 } },
  processes: ['controllers', 'hosting', 'sync'],
  writtenIn: 'src/kube/process/metrics.ts',
});

export function createMetrics({ prefix = 'kubenode_' }: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const leftOut = new Map<string, number>();
  const basics = ({ name, help, labels = {} }: MetricOptions<string>): Basics => {
    if (!NAME.test(name)) {
      throw new RangeError(`invalid metric name '${name}': expected lower case words joined by _`);
    }
    return { name: `${prefix}${name}`, help, labelNames: Object.keys(labels), registers: [registry] };
  };
  createGauge(SERIES_LEFT_OUT, basics(SERIES_LEFT_OUT), new Map(), () =>
    [...leftOut].flatMap(([metric, count]) => (count > 0 ? [[{ metric }, count] as const] : [])),
  );

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    counter: (options) => {
      if (!options.name.endsWith('_total')) {
        throw new RangeError(`invalid counter name '${options.name}': expected the suffix _total`);
      }
      const counter = new LibraryCounter<string>(basics(options));
      const bounds = createLabelBounds(options);
      for (const labels of closedLabelSets(options)) counter.inc(labels, 0);
      return { add: (labels, by = 1) => counter.inc(bounds.join(labels), by) };
    },
    gauge: (options) => createGauge(options, basics(options), leftOut, options.read),
    histogram: (options) => {
      const histogram = new LibraryHistogram<string>({ ...basics(options), buckets: [...options.buckets] });
      const bounds = createLabelBounds(options);
      const begun = new Set<string>();
      return {
        observe: (labels, value) => {
          const kept = bounds.join(labels);
          begun.add(JSON.stringify(kept));
          histogram.observe(kept, value);
        },
        begin: (labels) => {
          const kept = bounds.join(labels);
          if (!begun.has(JSON.stringify(kept))) histogram.zero(kept);
          begun.add(JSON.stringify(kept));
        },
      };
    },
  };
}

interface Basics {
  name: string;
  help: string;
  labelNames: string[];
  registers: Registry[];
}

type ReadGauge = GaugeOptions<string>['read'];

/** Values beyond the limit are left out: a sum or a maximum of foreign values would be none of theirs. */
function createGauge(
  options: MetricOptions<string>,
  basics: Basics,
  leftOut: Map<string, number>,
  read: ReadGauge,
): Gauge<string> {
  const gauge: LibraryGauge<string> = new LibraryGauge<string>({ ...basics, ...(read && { collect }) });
  const bounds = createLabelBounds(options);
  const beyond = new Set<string>();
  return {
    set: (labels, value) => {
      const kept = bounds.keep(labels);
      if (kept) gauge.set(kept, value);
      else if (beyond.size < MAX_BEYOND) leftOut.set(options.name, beyond.add(JSON.stringify(labels)).size);
    },
    remove: (labels) => {
      gauge.remove(bounds.forget(labels));
      if (beyond.delete(JSON.stringify(labels))) leftOut.set(options.name, beyond.size);
    },
  };

  /** Resets first, so that values that no longer exist disappear. */
  function collect(): void {
    gauge.reset();
    const bounded = createLabelBounds(options);
    let count = 0;
    let isEmpty = true;
    for (const [labels, value] of read?.() ?? []) {
      const kept = bounded.keep(labels);
      if (kept) gauge.set(kept, value);
      else count += 1;
      isEmpty = false;
    }
    // The library has 0 for a gauge without labels: a time that is not known is not 1970.
    if (isEmpty) gauge.remove({});
    leftOut.set(options.name, count);
  }
}

/** Label sets that are counted as left out: the memory of the count is bounded, too. */
const MAX_BEYOND = 1000;
