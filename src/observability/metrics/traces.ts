/** The metric of the traces of changes and repairs. */
import { defineCounter } from '../../kube/process/metrics.ts';
import { TRACED } from '../trace/sources/ended.ts';

export const TRACES = defineCounter({
  processes: ['controllers', 'sync'],
  writtenIn: 'src/observability/trace/otlp/metrics.ts',
  name: 'traces_total',
  help: 'Traces of changes, rollouts and repairs that were sent to the collector, by outcome: Failed is sent again, Refused is not, and Dropped was not taken within an hour.',
  labels: { what: TRACED, outcome: ['Exported', 'Failed', 'Refused', 'Dropped'] },
});

export const TRACE_METRICS = [TRACES];
