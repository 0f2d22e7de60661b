/** A reflector on a simulated server, with a virtual clock. */
import { onTestFinished } from 'vitest';
import { createReflector, type HoldableReflector } from '../../../src/kube/cache/reflector.ts';
import { createStore, type WritableStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../memory-log.ts';
import { settle, type VirtualClock, virtualClock } from '../virtual-clock.ts';
import { createSmallServer, type SmallServer, THINGS } from './small-server.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
/** The duration of a watch when `random` returns 0.5. */
export const WATCH_MS = 450 * SECOND;

export interface ReflectorBed {
  readonly clock: VirtualClock;
  readonly server: SmallServer;
  readonly store: WritableStore;
  readonly reflector: HoldableReflector;
  /** `+a`, `~a`, `-a`, or `?a` for a missed deletion. */
  readonly changes: string[];
  readonly restarts: string[];
  /** The times of its `recovered` calls. */
  readonly recoveries: number[];
  readonly stop: () => Promise<void>;
}

/** A running reflector with these objects on the server. `random` always returns 0.5. */
export async function createReflectorBed(
  names: readonly string[] = [],
  prepare: (server: SmallServer) => void = () => {},
  options: {
    readonly reconnectSpreadMs?: number;
    readonly random?: () => number;
    readonly resource?: Resource;
  } = {},
): Promise<ReflectorBed> {
  const clock = virtualClock();
  const server = createSmallServer(clock);
  for (const name of names) server.put(name);
  prepare(server);
  const objects = createStore({ log: memoryLog() });
  const changes: string[] = [];
  const restarts: string[] = [];
  const recoveries: number[] = [];
  objects.subscribe({
    added: ({ metadata }) => changes.push(`+${metadata.name}`),
    updated: ({ metadata }) => changes.push(`~${metadata.name}`),
    removed: ({ metadata }, missed) => changes.push(`${missed ? '?' : '-'}${metadata.name}`),
  });
  const metrics = { restarted: (kind: string, because: string) => void restarts.push(`${kind} ${because}`) };
  const parts = { client: server, resource: THINGS, store: objects, clock, log: memoryLog(), metrics };
  const recovered = (): void => void recoveries.push(clock.monotonicMs());
  const running = createReflector({ ...parts, recovered, random: () => 0.5, ...options });
  const stopping = new AbortController();
  const done = running.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await done;
  };
  onTestFinished(stop);
  await settle();
  return { clock, server, store: objects, reflector: running, changes, restarts, recoveries, stop };
}

export function contents(objects: readonly KubeObject[]): string[] {
  return objects
    .map(({ metadata: { name, uid, resourceVersion } }) => `${name} ${uid} ${resourceVersion}`)
    .toSorted();
}
