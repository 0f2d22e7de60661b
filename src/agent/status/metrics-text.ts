/** Metrics in the text format of Prometheus, without any npm package. Pure. */

export interface MetricFamily {
  /** Without the prefix `kubenode_`. Counters end in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly samples: readonly MetricSample[];
}

export interface MetricSample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const PREFIX = 'kubenode_';

export function formatMetrics(families: readonly MetricFamily[]): string {
  return families.map(formatFamily).join('');
}

function formatFamily({ name, help, type, samples }: MetricFamily): string {
  const full = PREFIX + name;
  const lines = samples.map(({ labels = {}, value }) => `${full}${formatLabels(labels)} ${value}`);
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return [`# HELP ${full} ${escaped}`, `# TYPE ${full} ${type}`, ...lines, ''].join('\n');
}

function formatLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
