/** Watches the objects with owner labels of one kind, and reports why they are unknown while they cannot be read. */
import { LABEL_HUB } from '../../../api/names.ts';
import { staleReason } from '../../../kube/cache/freshness.ts';
import {
  createReflector,
  type Freshness,
  type HoldableReflector,
  type Reflector,
} from '../../../kube/cache/reflector.ts';
import { createStore } from '../../../kube/cache/store.ts';
import type { Transform } from '../../../kube/cache/trim.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError, KubeError } from '../../../kube/client/errors.ts';
import { SERVED_WITHIN_MS, waitUntilServed } from '../../../kube/client/served.ts';
import type { KubeObject, ObjectName } from '../../../kube/objects/object.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { WatchMetrics } from '../../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../../os/clock.ts';
import { pollUntil } from '../../../os/poll.ts';
import type { CrdWatch } from './crd-watch.ts';
import type { KindRef } from './ports.ts';

export interface KindWatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: WatchMetrics;
  readonly onChange: () => void;
  readonly crds: CrdWatch;
  /** Shared by all kinds, because their objects have many texts in common. */
  readonly transform: Transform<KubeObject>;
  readonly closing: AbortSignal;
}

export interface KindWatch {
  readonly ref: KindRef;
  /** Resolves when the kind is listed completely, or cannot be in time: it never keeps other kinds waiting for longer. */
  start(signal: AbortSignal): Promise<void>;
  get(name: ObjectName): KubeObject | 'absent' | 'unknown';
  /** Lists the objects. The list is empty while they are unknown. */
  list(): readonly KubeObject[];
  /** The answer to a write. */
  wrote(object: KubeObject): void;
  deleted(object: KubeObject): void;
  /** Why its objects are unknown. */
  unknownReason(): string | undefined;
  /** Why a kind that is served could not be listed. */
  readError(): KubeError | undefined;
  /** The server answers for this kind alone with an error: only its own objects wait for it. */
  isUnreadable(): boolean;
  /** It was listed completely, and the last attempt to go on failed. */
  isInterrupted(): boolean;
  readonly unserved: boolean;
  /** The kind may be served now: the next start requests it again. */
  retryUnserved(): void;
  retryNow(): void;
  /** Holds its watch back, which would only repeat our own writes. Returns the function that ends that. */
  hold(): () => void;
  /** Ends the watch. Resolves when nothing of it is running. */
  stop(): Promise<void>;
}

/** Errors that a server may answer for one kind while it answers for others. An aggregated API may not answer at all. */
const ERRORS_OF_ONE_KIND = [
  'NotFound',
  'ServerError',
  'BadAnswer',
  'Forbidden',
  'Invalid',
  'Timeout',
] as const;
const POLL_MS = 20;
const LIST_WITHIN_MS = 5000;

export function createKindWatch(ref: KindRef, options: KindWatchOptions): KindWatch {
  const { client, clock, log, crds, onChange } = options;
  const stopping = new AbortController();
  const closing = AbortSignal.any([options.closing, stopping.signal]);
  const objects = createStore({ log });
  let watch: HoldableReflector | undefined;
  let running: Promise<void> | undefined;
  let starting: Promise<void> | undefined;
  let unserved = false;
  let startError: KubeError | undefined;
  let listDeadlineMs: number | undefined;
  objects.subscribe({ added: onChange, updated: onChange, removed: onChange });

  return {
    ref,
    async start(signal) {
      if (!watch && !unserved) starting ??= startWatch().finally(() => (starting = undefined));
      const started = starting;
      started?.catch(() => undefined); // It may end after this call.
      await waitForList(AbortSignal.any([signal, closing]));
      if (!starting) await started;
    },
    get: (name) => (unknownReason() === undefined ? (objects.get(name) ?? 'absent') : 'unknown'),
    list: () => (unknownReason() === undefined ? objects.list() : []),
    wrote: (object) => objects.wrote(object),
    deleted: (object) => objects.deleted(object),
    unknownReason,
    readError,
    get unserved() {
      return unserved;
    },
    retryUnserved: () => void ([unserved, listDeadlineMs] = [false, undefined]),
    retryNow: () => watch?.retryNow(),
    hold: () => watch?.holdWatch() ?? (() => undefined),
    isUnreadable: () =>
      unknownReason() !== undefined && isErrorOfOneKind(watch ? watch.freshness().error : startError),
    isInterrupted: () => watch !== undefined && watchError(watch.freshness()) !== undefined,
    async stop() {
      stopping.abort();
      await running;
    },
  };

  async function startWatch(): Promise<void> {
    try {
      const resource = crds.defines(ref)
        ? await waitUntilServed(client, clock, ref, closing)
        : await client.resourceFor(ref.apiVersion, ref.kind);
      watch = createReflector({
        ...options,
        resource,
        store: objects,
        labelSelector: LABEL_HUB,
        recovered: onChange,
      });
      running = watch.run(closing);
      if (startError) listDeadlineMs = undefined;
      startError = undefined;
    } catch (error) {
      // An API group that cannot be discovered makes only its own kinds unknown.
      if (!isErrorOfOneKind(error)) throw error;
      unserved = error.code === 'NotFound';
      startError = error;
      if (unserved) crds.start(options.closing);
    }
  }

  /**
   * A server that has just begun to serve a kind refuses requests for a moment, so some errors are retried. The time for
   * that is spent once: a kind that stays unreadable does not delay later reconciles.
   */
  async function waitForList(signal: AbortSignal): Promise<void> {
    const deadlineMs = (listDeadlineMs ??= clock.monotonicMs() + listWithinMs(crds.defines(ref)));
    const isDone = (): boolean => starting === undefined && isListedOrFailed(watch);
    await pollUntil(isDone, { clock, everyMs: POLL_MS, deadlineMs, signal });
    if (starting) startError ??= notDiscovered(ref, client);
  }

  function unknownReason(): string | undefined {
    if (unserved || isNotServed(watch)) return `this cluster does not serve ${ref.kind} of ${ref.apiVersion}`;
    if (!watch) return startError?.message ?? `${ref.kind} is not watched yet`;
    return staleReason(watch.freshness(), ref.kind);
  }

  function readError(): KubeError | undefined {
    if (!watch) return unserved ? undefined : startError;
    return listError(watch.freshness());
  }
}

function listError({ synced, error }: Freshness): KubeError | undefined {
  return synced ? undefined : error;
}

function watchError({ synced, error }: Freshness): KubeError | undefined {
  return synced ? error : undefined;
}

/** Its CRD was deleted: what was read before proves nothing about the objects of the kind, and none of them can be read. */
function isNotServed(watch: Reflector | undefined): boolean {
  return watch?.freshness().error?.status === 404;
}

function isListedOrFailed(watch: Reflector | undefined): boolean {
  const { synced = true, error } = watch?.freshness() ?? {};
  if (synced || !error) return synced;
  return !isKubeError(error, 'TooManyRequests', 'ServerError', 'NotFound', 'BadAnswer');
}

function isErrorOfOneKind(error: unknown): error is KubeError {
  return isKubeError(error, ...ERRORS_OF_ONE_KIND);
}

function listWithinMs(isNewKind: boolean): number {
  return LIST_WITHIN_MS + (isNewKind ? SERVED_WITHIN_MS : 0);
}

function notDiscovered({ apiVersion, kind }: KindRef, { server }: Client): KubeError {
  const within = `${LIST_WITHIN_MS / 1000} s`;
  return new KubeError(
    'Timeout',
    `discover ${kind} of ${apiVersion} at ${server}: no answer within ${within}`,
  );
}
