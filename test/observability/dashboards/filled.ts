/** Every metric of the table with all of its labels, through the same registry as the processes have: also those that only a fault fills. */
import { hostname } from 'node:os';
import { CONTROLLERS_LEASE } from '../../../src/api/names.ts';
import type { LabelValues } from '../../../src/kube/process/label-bounds.ts';
import { createMetrics, type MetricDefinition, type Metrics } from '../../../src/kube/process/metrics.ts';
import { METRIC_TABLE } from '../../../src/observability/metrics/table.ts';

/** Values of labels whose list is open, as the parts of the program write them. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  cluster: ['eu', 'us'],
  component: ['containerd', 'kubelet'],
  kind: ['MachineComponentSet', 'Machine'],
  // The node-exporter beside the test measures it.
  node: [hostname()],
  lease: [`${CONTROLLERS_LEASE.namespace}/${CONTROLLERS_LEASE.name}`],
  result: ['Approved', 'Denied'],
};

/** Returns the text of a scrape. Each one counts further, so that there are rates. */
export function createFilledMetrics(process: string): () => Promise<string> {
  const metrics = createMetrics();
  const updates = METRIC_TABLE.filter(
    ({ name, processes }) => processes.includes(process) && name !== LEFT_OUT,
  ).map((row) => filler(metrics, row, process));
  return async () => {
    for (const update of updates) update();
    return await metrics.text();
  };
}

/** The registry fills it. */
const LEFT_OUT = 'metric_series_left_out';

function filler(metrics: Metrics, row: MetricDefinition, process: string): () => void {
  const sets = labelSets(row.labels ?? {}, process);
  const fill = fillOne(metrics, row);
  return () => {
    for (const labels of sets) fill(labels);
  };
}

function fillOne(metrics: Metrics, row: MetricDefinition): (labels: Labels) => void {
  if (row.type === 'gauge') {
    const gauge = metrics.gauge(row);
    return (labels) => gauge.set(labels, 2);
  }
  if (row.type === 'counter') {
    const counter = metrics.counter(row);
    return (labels) => counter.add(labels, 2);
  }
  const histogram = metrics.histogram({ ...row, buckets: row.buckets ?? [] });
  return (labels) => histogram.observe(labels, 2);
}

type Labels = Readonly<Record<string, string>>;

function labelSets(labels: Readonly<Record<string, LabelValues>>, process: string): readonly Labels[] {
  let sets: readonly Labels[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    const list = label === 'process' ? [process] : 'of' in values ? (EXAMPLES[label] ?? ['example']) : values;
    sets = sets.flatMap((set) => list.map((value) => ({ ...set, [label]: value })));
  }
  return sets;
}
