/** Metrics of the runtime. Each part of src/kube takes only the interface that it feeds. */
import type { ApiVerb } from '../client/request.ts';
import type { TermEnd } from '../leader/term.ts';
import type { LoopDelay } from './loop-delay.ts';
import {
  defineCounter,
  defineGauge,
  defineHistogram,
  type MetricDefinition,
  type Metrics,
  SERIES_LEFT_OUT,
} from './metrics.ts';

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
  /** The epoch of the term; undefined: this process does not hold the Lease any more. */
  held(lease: string, epoch: number | undefined): void;
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

const SERVED = {
  processes: ['controllers', 'hosting', 'sync'],
  writtenIn: 'src/kube/process/metrics-runtime.ts',
} as const;

const VERBS = [
  'get',
  'list',
  'watch',
  'apply',
  'create',
  'replace',
  'patch',
  'delete',
  'discover',
  'raw',
] as const satisfies readonly ApiVerb[];
const CODES = { of: 'status codes and codes of errors', most: 40 };
/** A process of sync has a Lease for each Cluster and Pipeline. */
const LEASES = { of: 'Leases', most: 300 };
const QUEUES = { of: 'queues of controllers', most: 30 };
const TERM_ENDS = [
  'expired',
  'taken',
  'deleted',
  'released',
  'superseded',
] as const satisfies readonly TermEnd[];
const OUTCOMES = [
  'done',
  'repeated',
  'wake',
  'failed',
  'timeout',
  'withheld',
] as const satisfies readonly ReconcileOutcome[];

export const API_REQUESTS = defineCounter({
  ...SERVED,
  name: 'api_requests_total',
  help: 'Requests to API servers by verb and status code.',
  labels: { verb: VERBS, code: CODES },
  maxSeries: 200,
});
const API_REQUEST_SECONDS = defineHistogram({
  ...SERVED,
  name: 'api_request_seconds',
  help: 'Duration of requests to API servers; for watches until they are open.',
  labels: { verb: VERBS },
  buckets: CALL_SECONDS,
});
export const RECONCILE = defineHistogram({
  ...SERVED,
  name: 'reconcile_seconds',
  help: 'Duration of reconciles by controller and outcome.',
  labels: { controller: { of: 'controllers', most: 20 }, outcome: OUTCOMES },
  buckets: RECONCILE_SECONDS,
});
export const WATCH_RESTARTS = defineCounter({
  ...SERVED,
  name: 'watch_restarts_total',
  help: 'Watches that ended and were restarted, by kind and reason.',
  labels: { kind: { of: 'kinds', most: 60 }, because: CODES },
  maxSeries: 300,
});
export const LEASE_HELD = defineGauge({
  ...SERVED,
  name: 'lease_held',
  help: '1 while this process holds the Lease.',
  labels: { lease: LEASES },
});
export const LEASE_EPOCH = defineGauge({
  ...SERVED,
  name: 'lease_epoch',
  help: 'How often the holder of the Lease that this process holds has changed.',
  labels: { lease: LEASES },
});
const LEASE_TERMS_ENDED = defineCounter({
  ...SERVED,
  name: 'lease_terms_ended_total',
  help: 'Terms of this process that ended, by Lease and reason.',
  labels: { lease: LEASES, because: TERM_ENDS },
  maxSeries: 300,
});
const EVENTS_WRITTEN = defineCounter({
  ...SERVED,
  name: 'events_written_total',
  help: 'Events written to the API server.',
});
const EVENTS_DROPPED = defineCounter({
  ...SERVED,
  name: 'events_dropped_total',
  help: 'Events that were not written, by reason.',
  labels: { because: CODES },
});
const QUEUE_DEPTH = defineGauge({
  ...SERVED,
  name: 'queue_depth',
  help: 'Keys that wait to be reconciled.',
  labels: { queue: QUEUES },
});
export const QUEUE_WAIT = defineHistogram({
  ...SERVED,
  name: 'queue_wait_seconds',
  help: 'Time from when a key was due until it was taken.',
  labels: { queue: QUEUES },
  buckets: WAIT_SECONDS,
});
const QUEUE_RETRIES = defineCounter({
  ...SERVED,
  name: 'queue_retries_total',
  help: 'Keys added again after a failure.',
  labels: { queue: QUEUES },
});
export const LOOP_DELAY = defineGauge({
  ...SERVED,
  name: 'event_loop_delay_seconds',
  help: 'Delay of the event loop since these metrics were last read.',
  labels: { quantile: ['p50', 'p99', 'max'] },
});

export const RUNTIME_METRICS: readonly MetricDefinition[] = [
  SERIES_LEFT_OUT,
  API_REQUESTS,
  API_REQUEST_SECONDS,
  RECONCILE,
  WATCH_RESTARTS,
  LEASE_HELD,
  LEASE_EPOCH,
  LEASE_TERMS_ENDED,
  EVENTS_WRITTEN,
  EVENTS_DROPPED,
  QUEUE_DEPTH,
  QUEUE_WAIT,
  QUEUE_RETRIES,
  LOOP_DELAY,
];

export function createRuntimeMetrics(metrics: Metrics, delay?: LoopDelay): RuntimeMetrics {
  const calls = metrics.counter(API_REQUESTS);
  const callSeconds = metrics.histogram(API_REQUEST_SECONDS);
  const reconciles = metrics.histogram(RECONCILE);
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
  const restarts = metrics.counter(WATCH_RESTARTS);
  return { restarted: (kind, because) => restarts.add({ kind, because }) };
}

function leaseMetrics(metrics: Metrics): LeaseMetrics {
  const held = metrics.gauge(LEASE_HELD);
  const epochs = metrics.gauge(LEASE_EPOCH);
  const ends = metrics.counter(LEASE_TERMS_ENDED);
  return {
    held: (lease, epoch) => {
      held.set({ lease }, epoch === undefined ? 0 : 1);
      // Only the holder reports it: an old epoch would look like a change of the holder long after it.
      if (epoch === undefined) epochs.remove({ lease });
      else epochs.set({ lease }, epoch);
    },
    ended: (lease, because) => ends.add({ lease, because }),
  };
}

function eventMetrics(metrics: Metrics): EventMetrics {
  const written = metrics.counter(EVENTS_WRITTEN);
  const dropped = metrics.counter(EVENTS_DROPPED);
  return { written: () => written.add({}), dropped: (because) => dropped.add({ because }) };
}

function queueMetrics(metrics: Metrics): RuntimeMetrics['queue'] {
  const depths = new Map<string, () => number>();
  metrics.gauge({
    ...QUEUE_DEPTH,
    read: () => [...depths].map(([queue, depth]) => [{ queue }, depth()] as const),
  });
  const waits = metrics.histogram(QUEUE_WAIT);
  const retries = metrics.counter(QUEUE_RETRIES);
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
    ...LOOP_DELAY,
    read: () => Object.entries(delay.read()).map(([quantile, value]) => [{ quantile }, value] as const),
  });
}
