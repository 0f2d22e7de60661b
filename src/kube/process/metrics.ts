/**
 * Prometheus metrics. One registry per process, passed as an argument; imports register nothing. Labels have few values:
 * whatever grows with the fleet belongs in a log line.
 */
import {
  Counter as LibraryCounter,
  Gauge as LibraryGauge,
  Histogram as LibraryHistogram,
  Registry,
} from '@prometheus-io/client';

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
}

export interface MetricOptions<L extends string> {
  /** Without the prefix. Counters end in `_total`, times in `_seconds`, sizes in `_bytes`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly L[];
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
  /** Maximum of label sets of one metric; further ones are counted together as `other`. */
  readonly maxSeries?: number;
}

// Enough for 30 verbs × codes or 50 kinds × 10 reasons, but not for a label with node names by mistake.
const MAX_SERIES = 500;
const OTHER = 'other';
const NAME = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

export function createMetrics({
  prefix = 'kubenode_',
  maxSeries = MAX_SERIES,
}: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  const basics = ({ name, help, labels = [] }: MetricOptions<string>): Basics => {
    if (!NAME.test(name)) {
      throw new RangeError(`invalid metric name '${name}': expected lower case words joined by _`);
    }
    return { name: `${prefix}${name}`, help, labelNames: [...labels], registers: [registry] };
  };

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    counter: (options) => {
      if (!options.name.endsWith('_total')) {
        throw new RangeError(`invalid counter name '${options.name}': expected the suffix _total`);
      }
      const counter = new LibraryCounter<string>(basics(options));
      const bound = bounded(options.labels, maxSeries);
      return { add: (labels, by = 1) => counter.inc(bound(labels), by) };
    },
    gauge: (options) => {
      const bound = bounded(options.labels, maxSeries);
      const gauge = new LibraryGauge<string>({ ...basics(options), ...collect(options.read, bound) });
      return {
        set: (labels, value) => gauge.set(bound(labels), value),
        remove: (labels) => gauge.remove(labels),
      };
    },
    histogram: (options) => {
      const histogram = new LibraryHistogram<string>({ ...basics(options), buckets: [...options.buckets] });
      const bound = bounded(options.labels, maxSeries);
      return { observe: (labels, value) => histogram.observe(bound(labels), value) };
    },
  };
}

interface Basics {
  name: string;
  help: string;
  labelNames: string[];
  registers: Registry[];
}

type Bound = (labels: MetricLabels<string>) => MetricLabels<string>;

/** Resets first, so that values that no longer exist disappear. */
function collect(
  read: GaugeOptions<string>['read'],
  bound: Bound,
): { collect?: (this: LibraryGauge<string>) => void } {
  if (!read) return {};
  return {
    collect() {
      this.reset();
      for (const [labels, value] of read()) this.set(bound(labels), value);
    },
  };
}

function bounded(names: readonly string[] = [], maxSeries: number): Bound {
  const known = new Set<string>();
  return (labels) => {
    if (names.length === 0) return labels;
    const key = names.map((name) => labels[name]).join('\u0000');
    if (known.has(key)) return labels;
    if (known.size < maxSeries) {
      known.add(key);
      return labels;
    }
    return Object.fromEntries(names.map((name) => [name, OTHER]));
  };
}
