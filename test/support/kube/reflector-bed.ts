/** A reflector on a small server, with a clock that the test moves. */
import { onTestFinished } from 'vitest';
import { createReflector, type Reflector } from '../../../src/kube/cache/reflector.ts';
import { createStore, type WritableStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../memory-log.ts';
import { settle, type VirtualClock, virtualClock } from '../virtual-clock.ts';
import { type SmallServer, smallServer, THINGS } from './small-server.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
/** How long a watch is asked for when chance is one half. */
export const WATCH_MS = 450 * SECOND;

export interface Bed {
  readonly clock: VirtualClock;
  readonly server: SmallServer;
  readonly store: WritableStore;
  readonly reflector: Reflector;
  /** `+a`, `~a`, `-a`, `?a` for a deletion that was missed. */
  readonly told: string[];
  readonly restarts: string[];
  /** When it said that the server can be read (again). */
  readonly recoveries: number[];
  readonly stop: () => Promise<void>;
}

/** A reflector that runs, with these objects on the server; `chance` is always one half. */
export async function bed(
  names: readonly string[] = [],
  prepare: (server: SmallServer) => void = () => {},
): Promise<Bed> {
  const clock = virtualClock();
  const server = smallServer(clock);
  for (const name of names) server.put(name);
  prepare(server);
  const objects = createStore({ log: memoryLog() });
  const told: string[] = [];
  const restarts: string[] = [];
  const recoveries: number[] = [];
  objects.subscribe({
    added: ({ metadata }) => told.push(`+${metadata.name}`),
    updated: ({ metadata }) => told.push(`~${metadata.name}`),
    removed: ({ metadata }, missed) => told.push(`${missed ? '?' : '-'}${metadata.name}`),
  });
  const metrics = { restarted: (kind: string, because: string) => void restarts.push(`${kind} ${because}`) };
  const parts = { client: server, resource: THINGS, store: objects, clock, log: memoryLog(), metrics };
  const recovered = (): void => void recoveries.push(clock.monotonicMs());
  const running = createReflector({ ...parts, recovered, random: () => 0.5 });
  const giveUp = new AbortController();
  const done = running.run(giveUp.signal);
  const stop = async (): Promise<void> => {
    giveUp.abort();
    await done;
  };
  onTestFinished(stop);
  await settle();
  return { clock, server, store: objects, reflector: running, told, restarts, recoveries, stop };
}

export function contents(objects: readonly KubeObject[]): string[] {
  return objects
    .map(({ metadata: { name, uid, resourceVersion } }) => `${name} ${uid} ${resourceVersion}`)
    .toSorted();
}
