/** Metrics of the agent: counters of what it did, and gauges of what it last reported. */
import type { EventMetrics } from '../../kube/process/metrics-runtime.ts';
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
  const settled = createCounter('component', 'result');
  const corrections = createCounter('component', 'kind');
  const events = createCounter('result', 'because');
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
        family('transitions_total', 'Transitions that ended, by their result.', settled.samples()),
        family('corrections_total', 'Differences that were corrected, by their kind.', corrections.samples()),
        family('events_total', 'Events, written or dropped, and why.', events.samples()),
        family('reconciles_total', 'Reconciles of the machine.', [{ value: reconciles }]),
        family('reconcile_seconds_total', 'Time that reconciles took.', [{ value: reconcileSeconds }]),
        ...statusFamilies(status),
        family('api_online', '1 while the API server answers.', [{ value: Number(isOnline()) }]),
        family(
          'certificate_expiry_timestamp_seconds',
          'When the certificate of the agent ends.',
          timeSamples(certificateNotAfter()),
        ),
        family('resident_memory_bytes', 'Memory of this process.', [{ value: residentBytes() }]),
      ]),
  };
}

function statusFamilies(status: AgentStatus | undefined): readonly MetricFamily[] {
  const components = status?.components ?? [];
  return [
    family(
      'component_state',
      '1 for the state that each component has.',
      components.map(({ name, state = 'Absent' }) => ({ labels: { component: name, state }, value: 1 })),
    ),
    family(
      'component_ready',
      '1 while the processes of the component run and its probes pass.',
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

function family(name: string, help: string, samples: readonly MetricSample[]): MetricFamily {
  return { name, help, type: name.endsWith('_total') ? 'counter' : 'gauge', samples };
}

interface LabeledCounter {
  add(first: string, second: string): void;
  samples(): readonly MetricSample[];
}

function createCounter(...names: readonly [string, string]): LabeledCounter {
  const counts = new Map<
    string,
    { readonly labels: Readonly<Record<string, string>>; readonly value: number }
  >();
  return {
    add(first, second) {
      const key = JSON.stringify([first, second]);
      const labels = { [names[0]]: first, [names[1]]: second };
      counts.set(key, { labels, value: (counts.get(key)?.value ?? 0) + 1 });
    },
    samples: () => [...counts.values()],
  };
}
