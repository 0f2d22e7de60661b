/**
 * Tells people what happened to an object: `kubectl events`. Saying something never waits and never fails; what
 * cannot be written is counted. What is said again is counted in the Event that is there, also by the next leader.
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
  /** Writes what waits, until told to give up. */
  close(giveUp?: AbortSignal): Promise<void>;
}

export interface EventRecorderOptions extends EventReporter {
  readonly client: EventClient;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: EventMetrics;
}

// Of something that goes on all the time one write a minute tells enough.
const SERIES_EVERY_MS = 60_000;
// From a tenth of a second to ten, so about a minute: people may miss a line, a controller may not fill its memory.
const BACKOFF = { minMs: 100, maxMs: 10_000 };
const MAX_TRIES = 12;
const TIMEOUT_MS = 10_000;
const WORTH_ANOTHER_TRY = [
  'Unreachable',
  'Timeout',
  'TooManyRequests',
  'ServerError',
  'Credentials',
  'Unauthorized',
] as const;

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, random, log, metrics } = options;
  const book = createEventAggregator(options.controller);
  const queue = createWorkQueue({ clock, random, ...BACKOFF });
  const giveUp = new AbortController();
  const call = { signal: giveUp.signal, timeoutMs: TIMEOUT_MS };
  let open = true;
  const writing = writeAll();

  return { record, close };

  function record(occurrence: Occurrence): void {
    if (!open) return drop('closed');
    const nowMs = clock.monotonicMs();
    const entry = book.count(occurrence, clock.now(), nowMs);
    if (typeof entry === 'string') return drop(entry);
    queue.addAfter(entry.key, entry.lastWriteMs + SERIES_EVERY_MS - nowMs);
  }

  async function writeAll(): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      const entry = book.get(key);
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
      const again = isKubeError(error, ...WORTH_ANOTHER_TRY) && queue.failures(key) < MAX_TRIES;
      if (open && again) queue.retry(key);
      else giveUpOn(entry, error);
    }
  }

  function giveUpOn(entry: AggregatedEvent, error: unknown): void {
    book.forget(entry.key);
    queue.forget(entry.key);
    log.warn('event not written', { event: entry.name, reason: entry.occurrence.reason, error });
    const because = isKubeError(error) ? error.code : 'error';
    for (let n = entry.written; n < entry.count; n += 1) drop(because);
  }

  function drop(because: string): void {
    metrics?.dropped(because);
  }

  async function close(signal?: AbortSignal): Promise<void> {
    open = false;
    if (signal?.aborted) giveUp.abort(signal.reason);
    signal?.addEventListener('abort', () => giveUp.abort(signal.reason), { once: true });
    await Promise.all([queue.close('finish'), writing]);
    // What waited for its minute, or for another try.
    for (const entry of book.unwritten()) await write(entry);
  }
}
