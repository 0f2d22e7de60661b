/** The metrics of the agent, which serves them on its node. No npm package here: they are in the program of the agent. */

import type { LabelValues } from '../../kube/process/label-bounds.ts';
import type { MetricDefinition, MetricRow } from '../../kube/process/metrics.ts';

const PREFIX = 'agent_';
/** Components of a machine: 32, and those that it had before. */
const COMPONENTS: LabelValues = { of: 'components of the machine', most: 100 };
const FEW: LabelValues = { of: 'states of components', most: 16 };

function row<L extends string = never>(
  name: string,
  help: string,
  labels?: Readonly<Record<L, LabelValues>>,
): MetricRow<L> & Pick<MetricDefinition, 'type'> {
  const type = name.endsWith('_total') ? 'counter' : 'gauge';
  const served = { processes: ['agent'], writtenIn: 'src/agent/status/metrics.ts' };
  return { type, name: `${PREFIX}${name}`, help, ...(labels && { labels, maxSeries: 200 }), ...served };
}

export const AGENT_TRANSITIONS = row('transitions_total', 'Transitions that ended, by their result.', {
  component: COMPONENTS,
  result: FEW,
});
export const AGENT_CORRECTIONS = row('corrections_total', 'Differences that were corrected, by their kind.', {
  component: COMPONENTS,
  kind: FEW,
});
export const AGENT_EVENTS = row('events_total', 'Events, written or dropped, and why.', {
  result: ['Written', 'Dropped'],
  because: { of: 'codes of errors', most: 40 },
});
export const AGENT_RECONCILES = row('reconciles_total', 'Reconciles of the machine.');
export const AGENT_RECONCILE_SECONDS = row('reconcile_seconds_total', 'Time that reconciles took.');
export const AGENT_COMPONENT_STATE = row('component_state', '1 for the state that each component has.', {
  component: COMPONENTS,
  state: FEW,
});
export const AGENT_COMPONENT_READY = row(
  'component_ready',
  '1 while the processes of the component run and its probes pass.',
  { component: COMPONENTS },
);
export const AGENT_API_ONLINE = row('api_online', '1 while the API server answers.');
export const AGENT_CERTIFICATE_EXPIRY = row(
  'certificate_expiry_timestamp_seconds',
  'When the certificate of the agent ends.',
);
export const AGENT_MEMORY = row('resident_memory_bytes', 'Memory of this process.');

export const AGENT_METRICS: readonly MetricDefinition[] = [
  AGENT_TRANSITIONS,
  AGENT_CORRECTIONS,
  AGENT_EVENTS,
  AGENT_RECONCILES,
  AGENT_RECONCILE_SECONDS,
  AGENT_COMPONENT_STATE,
  AGENT_COMPONENT_READY,
  AGENT_API_ONLINE,
  AGENT_CERTIFICATE_EXPIRY,
  AGENT_MEMORY,
];
