/** One controller at work: its queue, and so many workers, each with one pass at a time. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../os/clock.ts';
import { staleReason } from '../cache/freshness.ts';
import { storeKey } from '../cache/store.ts';
import type { View } from '../cache/view.ts';
import type { Term } from '../leader/term.ts';
import type { KubeObject } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import type { ReconcileOutcome, RuntimeMetrics } from '../process/metrics-runtime.ts';
import { createWorkQueue, type WorkQueue } from '../queue/queue.ts';
import type { Controller, KeysOf } from './controller.ts';
import { beginPass, type PassResult, passWatch, type RunningPass } from './reconcile.ts';

export interface CrewOptions {
  readonly controller: Controller;
  readonly views: Readonly<Record<string, View>>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly metrics?: RuntimeMetrics;
  readonly passTimeoutMs: number;
  readonly maxViewAgeMs: number;
}

export interface Crew {
  /** Passes begin. With a term, only while it is held. */
  start(term?: Term): void;
  /** Every pass under way is told to stop. */
  abort(reason: unknown): void;
  /** Takes nothing in any more and waits for the passes under way. */
  stop(): Promise<void>;
  /** Why it is not well: passes that go on after their time. */
  objection(): string | undefined;
}

const CONCURRENCY = 4;
// While a view is not to be believed it is asked again this often.
const RECHECK_MS = 1000;
// A moment that has passed means soon, not now: a pass that always says so would spin.
const SOONEST_WAKE_MS = 1000;
// Passes that never wait would keep timers, probes and the renewal of the Lease waiting.
const LONGEST_TURN_MS = 10;

export function crewOf(options: CrewOptions): Crew {
  const { controller, clock, random, metrics, views, passTimeoutMs: limitMs } = options;
  const log = options.log.with({ controller: controller.name });
  const queueMetrics = metrics?.queue(controller.name, () => queue.depth);
  const queue: WorkQueue = createWorkQueue({
    clock,
    random,
    ...(queueMetrics ? { metrics: queueMetrics } : {}),
  });
  const judge = judgement(options, log);
  const passes = passWatch(clock, limitMs);
  const stopping = new AbortController();
  const unsubscribe = controller.reads.map((kind) => subscribe(views[kind], queue, keysOf(controller, kind)));
  const breathe = breather(clock);

  return {
    start: (term) => {
      for (let n = controller.concurrency ?? CONCURRENCY; n > 0; n -= 1) void work(term);
    },
    abort: (reason) => {
      for (const pass of passes.all) pass.abort(reason);
      passes.stop();
    },
    stop: async () => {
      for (const leave of unsubscribe) leave();
      stopping.abort();
      await queue.close();
      passes.stop();
    },
    objection: () => {
      const late = [...passes.all].filter((pass) => pass.late).map(({ key }) => key);
      return late.length === 0 ? undefined : `passes did not end in time: ${late.slice(0, 5).join(', ')}`;
    },
  };

  async function work(term: Term | undefined): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      await (judge(term) ? passOver(key, term) : putBack(key));
      await breathe();
    }
  }

  async function putBack(key: string): Promise<void> {
    metrics?.ended(controller.name, 'withheld', 0);
    queue.add(key);
    queue.done(key);
    await clock.sleep(RECHECK_MS, stopping.signal).catch(() => {}); // stopping: the queue says so
  }

  /** Returns when the pass ended or its time is over. The key stays taken until it has really ended. */
  async function passOver(key: string, term: Term | undefined): Promise<void> {
    const pass = beginPass(key, { controller, term, clock, log });
    passes.begun(pass);
    await Promise.race([settle(pass), pass.timeUp]);
    if (!pass.late) return;
    record(pass, 'timeout');
    log.error('pass takes too long', { key, limitMs });
  }

  async function settle(pass: RunningPass): Promise<void> {
    const result = scheduled(pass.key, await pass.ended, { queue, clock });
    passes.ended(pass);
    if (!pass.late) record(pass, result.ok ? 'done' : 'failed');
    if (result.ok) queue.forget(pass.key);
    else if (!stopping.signal.aborted) failed(pass.key, result.error);
    queue.done(pass.key);
  }

  function failed(key: string, error: unknown): void {
    const retryMs = queue.retry(key);
    log.warn('pass failed', { key, error, failures: queue.failures(key), retryMs });
  }

  function record({ startMs }: RunningPass, outcome: ReconcileOutcome): void {
    metrics?.ended(controller.name, outcome, (clock.monotonicMs() - startMs) / 1000);
  }
}

interface Schedule {
  readonly queue: WorkQueue;
  readonly clock: Clock;
}

/** Asks for the next pass at its moment. A moment that is none is a failure like any other. */
function scheduled(key: string, result: PassResult, { queue, clock }: Schedule): PassResult {
  if (!result.ok || !result.outcome.wakeAt) return result;
  const { wakeAt } = result.outcome;
  const soonest = new Date(clock.now().getTime() + SOONEST_WAKE_MS);
  try {
    queue.addAt(key, wakeAt < soonest ? soonest : wakeAt);
    return result;
  } catch (error) {
    return { ok: false, error };
  }
}

/** May a pass begin? Says why not, and when it may again, once each. */
function judgement(
  { controller, views, maxViewAgeMs }: CrewOptions,
  log: Log,
): (term: Term | undefined) => boolean {
  let withheld: string | undefined;
  return (term) => {
    const because = objection(term);
    if (because !== undefined && withheld === undefined) log.warn('passes withheld', { because });
    if (because === undefined && withheld !== undefined) log.info('passes go on', { because: withheld });
    withheld = because;
    return because === undefined;
  };

  function objection(term: Term | undefined): string | undefined {
    if (term && !term.held()) return 'we do not lead';
    for (const kind of controller.reads) {
      const view = views[kind];
      const because = view
        ? staleReason(view.reflector.freshness(), kind, maxViewAgeMs)
        : 'there is no such view';
      if (because !== undefined) return because;
    }
    return undefined;
  }
}

function breather(clock: Clock): () => Promise<void> {
  let turnMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - turnMs < LONGEST_TURN_MS) return;
    await nextTurn();
    turnMs = clock.monotonicMs();
  };
}

function keysOf({ reads, keys }: Controller, kind: string): KeysOf {
  return keys?.[kind] ?? (kind === reads[0] ? (object) => [storeKey(object.metadata)] : () => []);
}

function subscribe(view: View | undefined, queue: WorkQueue, keys: KeysOf): () => void {
  // What the first list brings waits behind what changes: `synced` turns only after it was told.
  let synced = false;
  void view?.reflector.synced().then(() => (synced = true));
  const add = (...objects: readonly KubeObject[]): void => {
    for (const key of new Set(objects.flatMap((object) => [...keys(object)]))) {
      queue.add(key, synced ? 'normal' : 'background');
    }
  };
  const leave = view?.store.subscribe({
    added: (object) => add(object),
    updated: (object, before) => add(object, before),
    removed: (last) => add(last),
  });
  return leave ?? (() => undefined);
}
