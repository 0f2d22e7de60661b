/** A context for one reconcile over fixed objects, for shells whose decisions are tested elsewhere. */
import { createStore, type Store } from '../../../src/kube/cache/store.ts';
import type { ReconcileContext } from '../../../src/kube/controller/reconcile-context.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../memory-log.ts';
import { withIndexers } from '../view-indexers.ts';
import { NOW } from '../virtual-clock.ts';

export interface FakeContext {
  readonly context: ReconcileContext;
  readonly events: string[];
  /** Writes, in order. */
  readonly writes: string[];
}

export interface FakeContextOptions {
  /** By kind. */
  readonly objects: Readonly<Record<string, readonly KubeObject[]>>;
  /** The error of a write, by its text in `writes`. */
  readonly fails?: (write: string) => Error | undefined;
}

export function fakeContext({ objects, fails = () => undefined }: FakeContextOptions): FakeContext {
  const events: string[] = [];
  const writes: string[] = [];
  const stores: Record<string, Store> = {};
  async function write(text: string): Promise<void> {
    writes.push(text);
    const error = fails(text);
    if (error !== undefined) throw error;
  }
  const partial: Partial<ReconcileContext> = {
    signal: new AbortController().signal,
    log: memoryLog(),
    clock: { now: () => NOW, monotonicMs: () => NOW.getTime(), sleep: () => Promise.resolve() },
    view: (resource: Resource) =>
      (stores[resource.kind] ??= storeOf(resource, objects[resource.kind])) as never,
    ageMs: () => undefined,
    async patch(_resource, object, operations) {
      await write(`patch ${object.metadata.name} ${operations.map(({ value }) => String(value)).join()}`);
      return object;
    },
    async delete({ kind }, { metadata }) {
      await write(`delete ${kind} ${metadata.name} ${metadata.uid}`);
      return 'Deleted';
    },
    event: (about, { type, reason, note }) =>
      void events.push(`${about.metadata.name}: ${type} ${reason}: ${note}`),
  };
  return { context: partial as ReconcileContext, events, writes };
}

function storeOf(resource: Resource, objects: readonly KubeObject[] = []): Store {
  const store = createStore({ log: memoryLog(), ...withIndexers(resource) });
  store.replace(objects);
  return store;
}
