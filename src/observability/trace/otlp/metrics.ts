/** The metric of traces. It exists in each process that may export some, and counts nothing where traces are off. */
import type { Metrics } from '../../../kube/process/metrics.ts';
import { TRACES } from '../../metrics/traces.ts';
import type { EndedTrace } from '../sources/ended.ts';

export interface TraceMetrics {
  ended(what: EndedTrace['what'], outcome: 'Exported' | 'Failed' | 'Refused' | 'Dropped'): void;
}

export function registerTraceMetrics(metrics: Metrics): TraceMetrics {
  const traces = metrics.counter(TRACES);
  return { ended: (what, outcome) => traces.add({ what, outcome }) };
}
