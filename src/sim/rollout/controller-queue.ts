/** Decides what one real controller has to reconcile, and when: by its own triggers, with its own fenced writes. */
import type { View } from '../../kube/cache/view.ts';
import { type ContextParts, createContext } from '../../kube/controller/context.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import { createControllerViews } from '../../kube/controller/views.ts';
import { createStatusReports } from '../../kube/controller/writes/status-reports.ts';
import { createWriter } from '../../kube/controller/writes/writer.ts';
import type { EventRecorder } from '../../kube/events/recorder.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';
import type { FaultyClient } from './faulty-client.ts';
import { quietLog } from './following-view.ts';

export interface QueueOptions {
  readonly controller: Controller;
  readonly client: FaultyClient;
  readonly views: Readonly<Record<string, View>>;
  readonly clock: Clock;
  readonly nowMs: () => number;
  readonly skewMs: () => number;
}

export interface ControllerQueue {
  isDue(): boolean;
  reconcileNext(): Promise<void>;
  close(): void;
}

interface Sleeper {
  readonly endsMs: number;
  readonly end: () => void;
}

const RETRY_MS = 5000;
/** The pauses between two writes of a status take no time here. */
const SHORT_MS = 1000;
/** The number of turns in which statuses that only report are written. */
const REST_TURNS = 30;

export function createControllerQueue(options: QueueOptions): ControllerQueue {
  const { controller, client, views, clock, nowMs, skewMs } = options;
  const dueMs = new Map<string, number>();
  /** The keys in work: each has one reconcile at a time. */
  const running = new Set<string>();
  const retry = (key: string): void => void dueMs.set(key, nowMs() + RETRY_MS);
  const changed = (key: string): void => void dueMs.set(key, 0);
  const own = createControllerViews({ controller, views, clock, log: quietLog, changed });
  const endTriggers = controller.triggers?.(changed);
  const find = <T extends KubeObject>({ kind }: Resource<T>): View<T> | undefined =>
    views[kind] as unknown as View<T> | undefined;
  const writer = createWriter({ controller, client, views: { find } });
  const sleepers = new Set<Sleeper>();
  const reports = createStatusReports({
    clock: { monotonicMs: nowMs, sleep: sleepInTurns },
    write: ({ resource, intent }) => writer.applyStatus(resource, intent, scopeOf()),
    failed: ({ key }) => retry(key),
  });
  const recorder = { record: () => {} } as unknown as EventRecorder;
  const parts: ContextParts = {
    views: own,
    writer,
    reports,
    recorder,
    clock,
    log: quietLog,
    epoch: undefined,
  };
  return { isDue, reconcileNext, close };

  function isDue(): boolean {
    for (const sleeper of sleepers) {
      if (sleeper.endsMs > nowMs()) continue;
      sleepers.delete(sleeper);
      sleeper.end();
    }
    return nextKey() !== undefined;
  }

  /** Statuses that may wait for a later one wait in virtual time. A process that is killed never writes them. */
  async function sleepInTurns(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= SHORT_MS) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { endsMs: nowMs() + ms, end: resolve };
    sleepers.add(sleeper);
    signal?.addEventListener('abort', () => {
      sleepers.delete(sleeper);
      reject(signal.reason);
    });
    await promise;
  }

  function close(): void {
    sleepers.clear();
    endTriggers?.();
    own.close();
  }

  function nextKey(): string | undefined {
    return [...dueMs].find(([key, at]) => at <= nowMs() && !running.has(key))?.[0];
  }

  async function reconcileNext(): Promise<void> {
    const key = nextKey();
    if (key === undefined) return;
    dueMs.delete(key);
    running.add(key);
    try {
      const { requeueAt } = await controller.reconcile(key, createContext(parts, { ...scopeOf(), key }));
      if (requeueAt && !dueMs.has(key)) dueMs.set(key, +requeueAt - skewMs());
    } catch (error) {
      client.noteError(error);
      if (!dueMs.has(key)) retry(key);
    } finally {
      running.delete(key);
    }
    await rest();
  }
}

function scopeOf(): { readonly signal: AbortSignal; readonly beforeSend: () => void } {
  return { signal: new AbortController().signal, beforeSend: () => {} };
}

async function rest(): Promise<void> {
  for (let turn = 0; turn < REST_TURNS; turn += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one turn after the other
    await Promise.resolve();
  }
}
