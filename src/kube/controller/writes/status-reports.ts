/**
 * Statuses that only report: of what is reported of an object within a moment only the last content is written, then
 * nothing for a second. What is pending when the controller stops is written then.
 */
import type { Clock } from '../../../os/clock.ts';
import { storeKey } from '../../cache/store.ts';
import { isKubeError } from '../../client/errors.ts';
import type { KubeObject, Resource } from '../../objects/object.ts';
import type { StatusIntent } from '../intent.ts';

export interface StatusReports {
  report<T extends KubeObject>(resource: Resource<T>, intent: StatusIntent<T>, key: string): void;
  /** A newer status is about to be written directly: what is pending is dropped, what is under way is waited for. */
  supersede<T extends KubeObject>(resource: Resource<T>, intent: StatusIntent<T>): Promise<void>;
  /** Writes what is pending and takes no more. */
  flush(): Promise<void>;
}

export interface StatusReportsOptions {
  readonly clock: Pick<Clock, 'sleep'>;
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
  writing: Promise<void>;
}

export function createStatusReports(options: StatusReportsOptions): StatusReports {
  const { clock, write, failed } = options;
  const objects = new Map<string, Reported>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  return {
    report: (resource, intent, key) => {
      const id = idOf(resource, intent);
      const known = objects.get(id);
      const pending: StatusReport = { resource, intent, key };
      if (known) known.pending = pending;
      else start(id, { pending, writing: Promise.resolve() });
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

  async function writeAll(id: string, reported: Reported): Promise<void> {
    await pause(GATHER_MS);
    for (let report = reported.pending; report; report = reported.pending) {
      reported.pending = undefined;
      reported.writing = writeOne(report);
      await reported.writing;
      await pause(BETWEEN_MS);
    }
    objects.delete(id);
  }

  async function pause(ms: number): Promise<void> {
    await clock.sleep(ms, stopping.signal).catch(() => undefined);
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
