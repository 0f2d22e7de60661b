/** Runs the workers of one controller: its queue, and `concurrency` workers, each with one reconcile at a time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../os/clock.ts';
import { isKubeError } from '../client/errors.ts';
import type { EventRecorder } from '../events/recorder.ts';
import type { Term } from '../leader/term.ts';
import type { Log } from '../process/log.ts';
import type { ReconcileOutcome, RuntimeMetrics } from '../process/metrics-runtime.ts';
import { createWorkQueue, type WorkQueue } from '../queue/queue.ts';
import type { ContextParts } from './context.ts';
import type { Controller } from './controller.ts';
import {
  beginReconcile,
  createReconcileTimer,
  type ReconcileEnd,
  type RunningReconcile,
} from './reconcile.ts';
import { type ControllerViews, createControllerViews, type Views } from './views.ts';
import { createStatusReports, type StatusReports } from './writes/status-reports.ts';
import { createWriter, type WriterClient } from './writes/writer.ts';

export interface WorkersOptions {
  readonly controller: Controller;
  readonly views: Views;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: RuntimeMetrics;
  readonly reconcileTimeoutMs: number;
  readonly maxViewAgeMs: number;
}

/** Holds what the workers of a term write with. */
export interface WorkersTerm {
  /** The term: workers write only while it is held. Without one no other process runs this controller. */
  readonly term: Term | undefined;
  /** The client with the identity of the controller's ServiceAccount, fenced by the term. */
  readonly client: WriterClient;
  readonly recorder: EventRecorder;
}

export interface Workers {
  /** Begins to reconcile. */
  start(term: WorkersTerm): void;
  /** Aborts every reconcile under way; none of them writes anything more. */
  abort(reason: unknown): void;
  /** Takes no further key, waits for the reconciles under way, and writes the statuses that are pending. */
  stop(): Promise<void>;
  /** Returns the reconciles that exceed their time limit and are still running; undefined when there are none. */
  stuckReason(): string | undefined;
}

const CONCURRENCY = 4;
// While a view is stale it is checked again this often.
const RECHECK_MS = 1000;
// A requeue time in the past is moved this far ahead: a reconcile that always returns one would spin.
const SOONEST_REQUEUE_MS = 1000;
// So many conflicts of a key in a row are expected: its view is late, for less than a second.
const LATE_VIEWS = 8;
// Reconciles that never wait would keep timers, probes and the renewal of the Lease waiting.
const LONGEST_TURN_MS = 10;

export function createWorkers(options: WorkersOptions): Workers {
  const { controller, clock, metrics, reconcileTimeoutMs: limitMs } = options;
  const log = options.log.with({ controller: controller.name });
  const queue = createControllerQueue(options);
  const views = createControllerViews({
    ...options,
    log,
    changed: (key, first, gatherMs) => (first ? queue.add(key, 'background') : queue.addAfter(key, gatherMs)),
  });
  const endTriggers = controller.triggers?.((key) => queue.add(key));
  const mayBegin = createGate(views, options.maxViewAgeMs, log);
  const timer = createReconcileTimer(clock, limitMs);
  const stopping = new AbortController();
  const breathe = createBreather(clock);
  let reports: StatusReports | undefined;

  return {
    start: (term) => {
      const shared = { controller, views, clock, log, failed };
      const parts = createParts(shared, term);
      reports = parts.reports;
      for (let n = controller.concurrency ?? CONCURRENCY; n > 0; n -= 1) void work(parts, term.term);
    },
    abort: (reason) => {
      for (const running of timer.running) running.abort(reason);
      timer.stop();
    },
    stop: async () => {
      endTriggers?.();
      views.close();
      stopping.abort();
      await queue.close();
      timer.stop();
      await reports?.flush();
    },
    stuckReason: () => {
      const late = [...timer.running].filter((running) => running.late).map(({ key }) => key);
      return late.length === 0
        ? undefined
        : `reconciles exceed their time limit: ${late.slice(0, 5).join(', ')}`;
    },
  };

  async function work(parts: ContextParts, term: Term | undefined): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      await (mayBegin(term) ? reconcile(key, parts) : putBack(key));
      await breathe();
    }
  }

  async function putBack(key: string): Promise<void> {
    metrics?.ended(controller.name, 'withheld', 0);
    queue.add(key);
    queue.done(key);
    await clock.sleep(RECHECK_MS, stopping.signal).catch(() => {}); // stopping: the queue is closed
  }

  /** Runs a reconcile and returns when it ended or exceeded its limit. The key stays taken until it has really ended. */
  async function reconcile(key: string, parts: ContextParts): Promise<void> {
    const running = beginReconcile(key, { controller, parts });
    timer.begun(running);
    await Promise.race([settle(running), running.timeUp]);
    if (!running.late) return;
    record(running, 'timeout');
    log.error('reconcile exceeded its time limit', { key, limitMs });
  }

  async function settle(running: RunningReconcile): Promise<void> {
    const end = requeued(running.key, await running.ended, { queue, clock });
    timer.ended(running);
    if (!running.late) record(running, outcomeOf(end, queue.failures(running.key)));
    if (end.ok) queue.forget(running.key);
    else failed(running.key, end.error);
    queue.done(running.key);
  }

  function failed(key: string, error: unknown): void {
    if (stopping.signal.aborted) return;
    const retryMs = queue.retry(key);
    const failures = queue.failures(key);
    if (isLateView(error, failures)) log.debug('reconcile repeated: the view was late', { key, retryMs });
    else log.warn('reconcile failed', { key, error, failures, retryMs });
  }

  function record({ startMs }: RunningReconcile, outcome: ReconcileOutcome): void {
    metrics?.ended(controller.name, outcome, (clock.monotonicMs() - startMs) / 1000);
  }
}

function createControllerQueue({ controller, clock, random, metrics }: WorkersOptions): WorkQueue {
  const counted = metrics?.queue(controller.name, () => queue.depth);
  const queue: WorkQueue = createWorkQueue({ clock, random, ...(counted ? { metrics: counted } : {}) });
  return queue;
}

interface Shared extends Pick<ContextParts, 'views' | 'clock' | 'log'> {
  readonly controller: Controller;
  readonly failed: (key: string, error: unknown) => void;
}

function createParts(
  { controller, failed, ...shared }: Shared,
  { term, client, recorder }: WorkersTerm,
): ContextParts {
  const { views, clock } = shared;
  const writer = createWriter({ controller, client, views });
  // Reports are flushed after the last reconcile has ended: only the fence of the client stops them.
  const call = { signal: new AbortController().signal, beforeSend: () => undefined };
  const reports = createStatusReports({
    clock,
    write: ({ resource, intent }) => writer.applyStatus(resource, intent, call),
    failed: ({ key }, error) => failed(key, error),
  });
  return { ...shared, writer, reports, recorder, epoch: term?.epoch };
}

/**
 * Tells whether an object changed after it was read: the server refuses the write, and soon the view shows why. That it never does is a
 * failure.
 */
function isLateView(error: unknown, failures: number): boolean {
  return failures <= LATE_VIEWS && isKubeError(error, 'Conflict');
}

function outcomeOf(end: ReconcileEnd, failures: number): ReconcileOutcome {
  if (end.ok) return 'done';
  return isLateView(end.error, failures + 1) ? 'repeated' : 'failed';
}

interface Schedule {
  readonly queue: WorkQueue;
  readonly clock: Clock;
}

/** Requeues at the time that the result names. An invalid date is a failure like any other. */
function requeued(key: string, end: ReconcileEnd, { queue, clock }: Schedule): ReconcileEnd {
  if (!end.ok || !end.result.requeueAt) return end;
  const { requeueAt, urgent = false } = end.result;
  const soonest = new Date(clock.now().getTime() + SOONEST_REQUEUE_MS);
  try {
    queue.addAt(key, requeueAt < soonest ? soonest : requeueAt, urgent ? 'urgent' : 'normal');
    return end;
  } catch (error) {
    return { ok: false, error };
  }
}

/** Creates a check of whether a reconcile may begin. It logs each pause and each resumption once, with the reason. */
function createGate(
  views: ControllerViews,
  maxViewAgeMs: number,
  log: Log,
): (term: Term | undefined) => boolean {
  let paused: string | undefined;
  return (term) => {
    const because = term && !term.held() ? 'the lease is not held' : views.staleReason(maxViewAgeMs);
    if (because !== undefined && paused === undefined) log.warn('reconciles paused', { because });
    if (because === undefined && paused !== undefined) log.info('reconciles resumed', { because: paused });
    paused = because;
    return because === undefined;
  };
}

function createBreather(clock: Clock): () => Promise<void> {
  let turnMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - turnMs < LONGEST_TURN_MS) return;
    await nextTurn();
    turnMs = clock.monotonicMs();
  };
}
