/** Metrics of the agent: counters of what it did, and gauges of what it last reported. */
import { createLabelBounds } from '../../kube/process/label-bounds.ts';
import type { MetricDefinition } from '../../kube/process/metrics.ts';
import type { EventMetrics } from '../../kube/process/metrics-runtime.ts';
import {
  AGENT_API_ONLINE,
  AGENT_CERTIFICATE_EXPIRY,
  AGENT_COMPONENT_READY,
  AGENT_COMPONENT_STATE,
  AGENT_CORRECTIONS,
  AGENT_EVENTS,
  AGENT_MEMORY,
  AGENT_RECONCILE_SECONDS,
  AGENT_RECONCILES,
  AGENT_TRANSITIONS,
} from '../../observability/metrics/agent.ts';
import type { AgentObserver } from '../run/agent.ts';
import { formatMetrics, METRICS_CONTENT_TYPE, type MetricFamily, type MetricSample } from './metrics-text.ts';
import type { AgentStatus } from './report.ts';

export interface AgentMetrics {
  readonly observer: AgentObserver;
  readonly events: EventMetrics;
  readonly contentType: string;
  text(): Promise<string>;
}

export interface AgentMetricsOptions {
  readonly isOnline: () => boolean;
  readonly residentBytes: () => number;
  /** When the certificate of the agent ends, where it keeps one. */
  readonly certificateNotAfter: () => Date | undefined;
}

export function createAgentMetrics({
  isOnline,
  residentBytes,
  certificateNotAfter,
}: AgentMetricsOptions): AgentMetrics {
  const settled = createCounter(AGENT_TRANSITIONS);
  const corrections = createCounter(AGENT_CORRECTIONS);
  const events = createCounter(AGENT_EVENTS);
  let reconciles = 0;
  let reconcileSeconds = 0;
  let status: AgentStatus | undefined;

  return {
    contentType: METRICS_CONTENT_TYPE,
    events: {
      written: () => events.add('Written', ''),
      dropped: (because) => events.add('Dropped', because),
    },
    observer: {
      acted(component, action) {
        if (action.type !== 'Record') return;
        const { record } = action;
        if (record.type === 'Settled') settled.add(component, record.state);
        if (record.type === 'Correction') corrections.add(component, record.kind);
      },
      reconciled(reported, seconds) {
        reconciles += 1;
        reconcileSeconds += seconds;
        status = reported;
      },
    },
    text: async () =>
      formatMetrics([
        family(AGENT_TRANSITIONS, settled.samples()),
        family(AGENT_CORRECTIONS, corrections.samples()),
        family(AGENT_EVENTS, events.samples()),
        family(AGENT_RECONCILES, [{ value: reconciles }]),
        family(AGENT_RECONCILE_SECONDS, [{ value: reconcileSeconds }]),
        ...statusFamilies(status),
        family(AGENT_API_ONLINE, [{ value: Number(isOnline()) }]),
        family(AGENT_CERTIFICATE_EXPIRY, timeSamples(certificateNotAfter())),
        family(AGENT_MEMORY, [{ value: residentBytes() }]),
      ]),
  };
}

function statusFamilies(status: AgentStatus | undefined): readonly MetricFamily[] {
  const components = status?.components ?? [];
  return [
    family(
      AGENT_COMPONENT_STATE,
      components.map(({ name, state = 'Absent' }) => ({ labels: { component: name, state }, value: 1 })),
    ),
    family(
      AGENT_COMPONENT_READY,
      components.map(({ name, running = false, ready = false }) => ({
        labels: { component: name },
        value: Number(running && ready),
      })),
    ),
  ];
}

function timeSamples(time: Date | undefined): readonly MetricSample[] {
  return time ? [{ value: Math.floor(time.getTime() / 1000) }] : [];
}

function family(
  { name, help, type }: Pick<MetricDefinition, 'name' | 'help' | 'type'>,
  samples: readonly MetricSample[],
): MetricFamily {
  return { name, help, type: type === 'counter' ? 'counter' : 'gauge', samples };
}

interface LabeledCounter {
  add(first: string, second: string): void;
  samples(): readonly MetricSample[];
}

/** Names of components are written by people, and a machine may have others every day: its memory is bounded. */
function createCounter(definition: Pick<MetricDefinition, 'labels' | 'maxSeries'>): LabeledCounter {
  const [first = '', second = ''] = Object.keys(definition.labels ?? {});
  const bounds = createLabelBounds(definition);
  const counts = new Map<string, Required<MetricSample>>();
  return {
    add(...values) {
      const labels = bounds.join({ [first]: values[0], [second]: values[1] });
      const key = JSON.stringify(labels);
      counts.set(key, { labels, value: (counts.get(key)?.value ?? 0) + 1 });
    },
    samples: () => [...counts.values()],
  };
}
