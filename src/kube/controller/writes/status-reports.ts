/**
 * Statuses that only report: of what is reported of an object within a moment only the last content is written, then
 * nothing for a second. A report that may wait for a later one is written with it, and at the latest when its time is over. What is
 * pending when the controller stops is written then.
 */
import type { Clock } from '../../../os/clock.ts';
import { storeKey } from '../../cache/store.ts';
import { isKubeError } from '../../client/errors.ts';
import type { KubeObject, Resource } from '../../objects/object.ts';
import type { StatusIntent } from '../intent.ts';

export interface StatusReports {
  report<T extends KubeObject>(resource: Resource<T>, intent: StatusIntent<T>, when: ReportTime): void;
  /** A newer status is about to be written directly: what is pending is dropped, what is under way is waited for. */
  supersede<T extends KubeObject>(resource: Resource<T>, intent: StatusIntent<T>): Promise<void>;
  /** Writes what is pending and takes no more. */
  flush(): Promise<void>;
}

export interface ReportTime {
  readonly key: string;
  /** How long the report may wait for a later one. Default: 0. */
  readonly delayMs?: number;
}

export interface StatusReportsOptions {
  readonly clock: Pick<Clock, 'sleep' | 'monotonicMs'>;
  readonly write: (report: StatusReport) => Promise<unknown>;
  /** The status was not written: its key has to be reconciled again. */
  readonly failed: (report: StatusReport, error: unknown) => void;
}

export interface StatusReport {
  readonly resource: Resource;
  readonly intent: StatusIntent;
  readonly key: string;
}

// What a reconcile reports from step to step; a tenth of a second is invisible to people.
const GATHER_MS = 100;
// A controller that reports after each of a thousand steps writes once a second.
const BETWEEN_MS = 1000;

interface Reported {
  pending: StatusReport | undefined;
  /** When the report that is pending has to be written: the earliest time of all since the last write. */
  dueMs: number;
  /** Ends the wait for that time, because a report is due earlier. */
  hurry: AbortController;
  writing: Promise<void>;
}

export function createStatusReports(options: StatusReportsOptions): StatusReports {
  const { clock, write, failed } = options;
  const objects = new Map<string, Reported>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  return {
    report: (resource, intent, { key, delayMs = 0 }) => {
      const id = idOf(resource, intent);
      const known = objects.get(id);
      const pending: StatusReport = { resource, intent, key };
      const dueMs = clock.monotonicMs() + delayMs;
      if (known) replace(known, pending, dueMs);
      else start(id, { pending, dueMs, hurry: new AbortController(), writing: Promise.resolve() });
    },
    supersede: async (resource, intent) => {
      const known = objects.get(idOf(resource, intent));
      if (!known) return;
      known.pending = undefined;
      await known.writing;
    },
    flush: async () => {
      stopping.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };

  function start(id: string, reported: Reported): void {
    objects.set(id, reported);
    const run = writeAll(id, reported).finally(() => running.delete(run));
    running.add(run);
  }

  function replace(known: Reported, pending: StatusReport, dueMs: number): void {
    const isEarlier = !known.pending || dueMs < known.dueMs;
    known.pending = pending;
    if (!isEarlier) return;
    known.dueMs = dueMs;
    known.hurry.abort();
  }

  async function writeAll(id: string, reported: Reported): Promise<void> {
    await pause(GATHER_MS);
    for (let report = await nextDue(reported); report; report = await nextDue(reported)) {
      reported.pending = undefined;
      reported.writing = writeOne(report);
      await reported.writing;
      await pause(BETWEEN_MS);
    }
    objects.delete(id);
  }

  /** Resolves with the last content when it is due, and with undefined when nothing is pending. */
  async function nextDue(reported: Reported): Promise<StatusReport | undefined> {
    for (let isDue = false; reported.pending && !isDue && !stopping.signal.aborted; ) {
      // oxlint-disable-next-line no-await-in-loop -- until the report that is due first is due
      isDue = await isDueWithin(reported, reported.dueMs - clock.monotonicMs());
    }
    return reported.pending;
  }

  /** Resolves with false when another report is due earlier. */
  async function isDueWithin(reported: Reported, ms: number): Promise<boolean> {
    if (ms <= 0) return true;
    reported.hurry = new AbortController();
    return await hasPassed(ms, AbortSignal.any([stopping.signal, reported.hurry.signal]));
  }

  async function pause(ms: number): Promise<void> {
    await hasPassed(ms, stopping.signal);
  }

  /** Resolves with false when the signal is aborted before. */
  async function hasPassed(ms: number, signal: AbortSignal): Promise<boolean> {
    return await clock.sleep(ms, signal).then(
      () => true,
      () => false,
    );
  }

  async function writeOne(report: StatusReport): Promise<void> {
    try {
      await write(report);
    } catch (error) {
      // The object was deleted; or it is not in the view yet, and triggers another report when it arrives there.
      if (!isKubeError(error, 'NotFound')) failed(report, error);
    }
  }
}

function idOf({ kind, group }: Resource, { metadata }: StatusIntent): string {
  return `${kind}.${group} ${storeKey(metadata)}`;
}
