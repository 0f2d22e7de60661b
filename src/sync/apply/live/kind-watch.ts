/** One kind as it is seen in one cluster: served or not, listed or not, believed or not. */
import { LABEL_HUB } from '../../../api/names.ts';
import { staleReason } from '../../../kube/cache/freshness.ts';
import { createReflector, type Reflector } from '../../../kube/cache/reflector.ts';
import { createStore } from '../../../kube/cache/store.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { KubeObject, ObjectName } from '../../../kube/objects/object.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { WatchMetrics } from '../../../kube/process/metrics-runtime.ts';
import type { Clock } from '../../../os/clock.ts';
import type { KindRef } from '../ports.ts';
import { type CrdWatch, waitUntilServed } from './crd-watch.ts';

export interface KindWatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly metrics?: WatchMetrics;
  readonly onChange: () => void;
  readonly crds: CrdWatch;
  readonly closing: AbortSignal;
}

export interface KindWatch {
  readonly ref: KindRef;
  /** Resolves when the kind is seen whole, or is known not to be: it keeps no other kind waiting. */
  start(signal: AbortSignal): Promise<void>;
  get(name: ObjectName): KubeObject | 'absent' | 'unknown';
  put(object: KubeObject): void;
  remove(object: KubeObject): void;
  /** Why nothing is known of it, or nothing. */
  unknownReason(): string | undefined;
  readonly unserved: boolean;
  /** It may be served by now. */
  retryUnserved(): void;
  readonly ended: Promise<void>;
}

const LOOK_AGAIN_MS = 20;
const PATIENCE_MS = 5000;

export function createKindWatch(ref: KindRef, options: KindWatchOptions): KindWatch {
  const { client, clock, log, crds, closing, onChange } = options;
  const objects = createStore({ log });
  let watching: Reflector | undefined;
  let running: Promise<void> | undefined;
  let starting: Promise<void> | undefined;
  let unserved = false;
  let refused: string | undefined;
  objects.subscribe({ added: onChange, updated: onChange, removed: onChange });

  return {
    ref,
    async start(signal) {
      if (!watching && !unserved) {
        starting ??= startWatch().finally(() => {
          starting = undefined;
        });
      }
      await starting;
      await listedOrRefused(AbortSignal.any([signal, closing]));
    },
    get: (name) => (unknownReason() === undefined ? (objects.get(name) ?? 'absent') : 'unknown'),
    put: (object) => objects.put(object),
    remove: (object) => objects.remove(object),
    unknownReason,
    get unserved() {
      return unserved;
    },
    retryUnserved: () => {
      unserved = false;
    },
    get ended() {
      return running ?? Promise.resolve();
    },
  };

  async function startWatch(): Promise<void> {
    try {
      refused = undefined;
      const resource = crds.defines(ref)
        ? await waitUntilServed(client, clock, ref, closing)
        : await client.resourceFor(ref.apiVersion, ref.kind);
      watching = createReflector({
        ...options,
        resource,
        store: objects,
        labelSelector: LABEL_HUB,
        recovered: onChange,
      });
      running = watching.run(closing);
    } catch (error) {
      // A group that cannot be asked makes its own kinds unknown, and no others.
      if (!isKubeError(error, 'NotFound', 'ServerError', 'BadAnswer', 'Forbidden')) throw error;
      unserved = error.code === 'NotFound';
      refused = unserved ? `this cluster does not serve ${ref.kind} of ${ref.apiVersion}` : error.message;
      if (unserved) crds.begin(closing);
    }
  }

  /** A server that has just learned a kind refuses it for a moment, so the first error is not the last word. */
  async function listedOrRefused(signal: AbortSignal): Promise<void> {
    const until = clock.monotonicMs() + PATIENCE_MS;
    for (let look = watching?.freshness(); look && !look.synced; look = watching?.freshness()) {
      const refusal =
        look.error && !isKubeError(look.error, 'TooManyRequests', 'ServerError', 'NotFound', 'BadAnswer');
      if (refusal || clock.monotonicMs() >= until) return;
      await clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }

  function unknownReason(): string | undefined {
    if (!watching) return refused ?? `${ref.kind} is not watched yet`;
    return staleReason(watching.freshness(), ref.kind);
  }
}
