/**
 * Writes Events for people (`kubectl events`). Recording never waits and never fails; events that cannot be written are
 * counted in a metric. Repeated events increase the count of the existing Event, even across leaders.
 */
import type { Clock } from '../../os/clock.ts';
import { isKubeError } from '../client/errors.ts';
import type { Log } from '../process/log.ts';
import type { EventMetrics } from '../process/metrics-runtime.ts';
import { createWorkQueue } from '../queue/queue.ts';
import { type AggregatedEvent, createEventAggregator, isUnwritten } from './aggregate.ts';
import type { EventReporter, Occurrence } from './object.ts';
import { type EventClient, writeEvent } from './writer.ts';

export type { Occurrence } from './object.ts';

export interface EventRecorder {
  record(occurrence: Occurrence): void;
  /** Writes waiting events, until the signal is aborted. */
  close(signal?: AbortSignal): Promise<void>;
}

export interface EventRecorderOptions extends EventReporter {
  readonly client: EventClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: EventMetrics;
}

// One write a minute is enough for an event that repeats.
const SERIES_EVERY_MS = 60_000;
// Retries last for about a minute: a lost Event is acceptable, unlimited memory is not.
const BACKOFF = { minMs: 100, maxMs: 10_000 };
const MAX_TRIES = 12;
const TIMEOUT_MS = 10_000;
const RETRYABLE = [
  'Unreachable',
  'Timeout',
  'TooManyRequests',
  'ServerError',
  'Credentials',
  'Unauthorized',
] as const;

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, random, log, metrics } = options;
  const aggregator = createEventAggregator(options.controller);
  const queue = createWorkQueue({ clock, random, ...BACKOFF });
  const abort = new AbortController();
  const call = { signal: abort.signal, timeoutMs: TIMEOUT_MS };
  let open = true;
  const writing = writeAll();

  return { record, close };

  function record(occurrence: Occurrence): void {
    if (!open) return drop('closed');
    const nowMs = clock.monotonicMs();
    const entry = aggregator.count(occurrence, clock.now(), nowMs);
    if (typeof entry === 'string') return drop(entry);
    queue.addAfter(entry.key, entry.lastWriteMs + SERIES_EVERY_MS - nowMs);
  }

  async function writeAll(): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      const entry = aggregator.get(key);
      if (entry && isUnwritten(entry)) await write(entry);
      queue.done(key);
    }
  }

  async function write(entry: AggregatedEvent): Promise<void> {
    const { key, count } = entry;
    try {
      await writeEvent(client, entry, options, call);
      entry.written = count;
      entry.lastWriteMs = clock.monotonicMs();
      queue.forget(key);
      metrics?.written();
    } catch (error) {
      const retryable = isKubeError(error, ...RETRYABLE) && queue.failures(key) < MAX_TRIES;
      if (open && retryable) queue.retry(key);
      else dropEntry(entry, error);
    }
  }

  function dropEntry(entry: AggregatedEvent, error: unknown): void {
    aggregator.forget(entry.key);
    queue.forget(entry.key);
    log.warn('event write failed', { event: entry.name, reason: entry.occurrence.reason, error });
    const because = isKubeError(error) ? error.code : 'error';
    for (let n = entry.written; n < entry.count; n += 1) drop(because);
  }

  function drop(because: string): void {
    metrics?.dropped(because);
  }

  async function close(signal?: AbortSignal): Promise<void> {
    open = false;
    if (signal?.aborted) abort.abort(signal.reason);
    signal?.addEventListener('abort', () => abort.abort(signal.reason), { once: true });
    await Promise.all([queue.close('finish'), writing]);
    // Entries that waited for their next write or a retry.
    for (const entry of aggregator.unwritten()) await write(entry);
  }
}
