/** Metrics of the runtime. Each part of src/kube takes only the interface that it feeds. */
import type { LoopDelay } from './loop-delay.ts';
import type { Metrics } from './metrics.ts';

export interface ApiMetrics {
  /** `code` is the HTTP status, or the KubeError code when there was no answer. */
  call(report: { readonly verb: string; readonly code: string; readonly seconds: number }): void;
}

export interface WatchMetrics {
  restarted(kind: string, because: string): void;
}

export interface QueueMetrics {
  /** A key was taken this long after it became due. */
  taken(waitSeconds: number): void;
  retried(): void;
}

/** Repeated: an object had changed since it was read. */
export type ReconcileOutcome = 'done' | 'repeated' | 'wake' | 'failed' | 'timeout' | 'withheld';

export interface ReconcileMetrics {
  ended(controller: string, outcome: ReconcileOutcome, seconds: number): void;
}

export interface LeaseMetrics {
  held(lease: string, held: boolean): void;
  /** Why a term ended: released, expired, taken. */
  ended(lease: string, because: string): void;
}

export interface EventMetrics {
  written(): void;
  dropped(because: string): void;
}

export interface RuntimeMetrics extends ApiMetrics, ReconcileMetrics {
  readonly watch: WatchMetrics;
  readonly lease: LeaseMetrics;
  readonly events: EventMetrics;
  /** `depth` is called when the metrics are read. */
  queue(name: string, depth: () => number): QueueMetrics;
}

// From a cached answer to a list of 10,000 nodes; from a reconcile without changes to one that drains a node.
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const RECONCILE_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300];
const WAIT_SECONDS = [0.001, 0.01, 0.1, 1, 5, 30, 120, 600];

export function createRuntimeMetrics(metrics: Metrics, delay?: LoopDelay): RuntimeMetrics {
  const calls = metrics.counter({
    name: 'api_requests_total',
    help: 'Requests to API servers by verb and status code.',
    labels: ['verb', 'code'],
  });
  const callSeconds = metrics.histogram({
    name: 'api_request_seconds',
    help: 'Duration of requests to API servers; for watches until they are open.',
    labels: ['verb'],
    buckets: CALL_SECONDS,
  });
  const reconciles = metrics.histogram({
    name: 'reconcile_seconds',
    help: 'Duration of reconciles by controller and outcome.',
    labels: ['controller', 'outcome'],
    buckets: RECONCILE_SECONDS,
  });
  if (delay) loopDelayMetric(metrics, delay);

  return {
    call: ({ verb, code, seconds }) => {
      calls.add({ verb, code });
      callSeconds.observe({ verb }, seconds);
    },
    ended: (controller, outcome, seconds) => reconciles.observe({ controller, outcome }, seconds),
    watch: watchMetrics(metrics),
    lease: leaseMetrics(metrics),
    events: eventMetrics(metrics),
    queue: queueMetrics(metrics),
  };
}

function watchMetrics(metrics: Metrics): WatchMetrics {
  const restarts = metrics.counter({
    name: 'watch_restarts_total',
    help: 'Watches that ended and were restarted, by kind and reason.',
    labels: ['kind', 'because'],
  });
  return { restarted: (kind, because) => restarts.add({ kind, because }) };
}

function leaseMetrics(metrics: Metrics): LeaseMetrics {
  const held = metrics.gauge({
    name: 'lease_held',
    help: '1 while this process holds the Lease.',
    labels: ['lease'],
  });
  const ends = metrics.counter({
    name: 'lease_terms_ended_total',
    help: 'Terms of this process that ended, by Lease and reason.',
    labels: ['lease', 'because'],
  });
  return {
    held: (lease, isHeld) => held.set({ lease }, isHeld ? 1 : 0),
    ended: (lease, because) => ends.add({ lease, because }),
  };
}

function eventMetrics(metrics: Metrics): EventMetrics {
  const written = metrics.counter({
    name: 'events_written_total',
    help: 'Events written to the API server.',
  });
  const dropped = metrics.counter({
    name: 'events_dropped_total',
    help: 'Events that were not written, by reason.',
    labels: ['because'],
  });
  return { written: () => written.add({}), dropped: (because) => dropped.add({ because }) };
}

function queueMetrics(metrics: Metrics): RuntimeMetrics['queue'] {
  const depths = new Map<string, () => number>();
  metrics.gauge({
    name: 'queue_depth',
    help: 'Keys that wait to be reconciled.',
    labels: ['queue'],
    read: () => [...depths].map(([queue, depth]) => [{ queue }, depth()] as const),
  });
  const waits = metrics.histogram({
    name: 'queue_wait_seconds',
    help: 'Time from when a key was due until it was taken.',
    labels: ['queue'],
    buckets: WAIT_SECONDS,
  });
  const retries = metrics.counter({
    name: 'queue_retries_total',
    help: 'Keys added again after a failure.',
    labels: ['queue'],
  });
  return (queue, depth) => {
    depths.set(queue, depth);
    return {
      taken: (seconds) => waits.observe({ queue }, seconds),
      retried: () => retries.add({ queue }),
    };
  };
}

function loopDelayMetric(metrics: Metrics, delay: LoopDelay): void {
  metrics.gauge({
    name: 'event_loop_delay_seconds',
    help: 'Delay of the event loop since these metrics were last read.',
    labels: ['quantile'],
    read: () => Object.entries(delay.read()).map(([quantile, value]) => [{ quantile }, value] as const),
  });
}
