/** The views that one controller declared to read: for its reconciles, for its writes, and for what starts a reconcile. */
import type { Clock } from '../../os/clock.ts';
import { staleReason } from '../cache/freshness.ts';
import { type Store, storeKey } from '../cache/store.ts';
import type { View } from '../cache/view.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import type { Log } from '../process/log.ts';
import { type ChangeAge, trackChangeAge } from './change-age.ts';
import type { Controller, KeysOf, KindRead } from './controller.ts';

/** All views of a process, by kind. */
export type Views = Readonly<Record<string, View>>;

export interface ControllerViews {
  /** Throws for a kind that the controller does not read. */
  storeOf<T extends KubeObject>(resource: Resource<T>): Store<T>;
  ageMs(resource: Resource, key: string, part?: string): number | undefined;
  /** Any view of the process, also of what the controller only writes. */
  find<T extends KubeObject>(resource: Resource<T>): View<T> | undefined;
  /** Why no reconcile may begin now; undefined when one may. */
  staleReason(maxAgeMs: number): string | undefined;
  close(): void;
}

export interface ControllerViewsOptions {
  readonly controller: Pick<Controller, 'name' | 'reads'>;
  readonly views: Views;
  readonly clock: Clock;
  readonly log: Log;
  /** A change concerns this key. `first`: it was found by the initial list. Others may wait for more such changes. */
  readonly changed: (key: string, first: boolean, gatherMs: number) => void;
}

const ANY_CHANGE = '';

export function createControllerViews(options: ControllerViewsOptions): ControllerViews {
  const { controller, views, clock } = options;
  const ages = new Map<string, ChangeAge>();
  for (const { resource, ages: parts = {} } of controller.reads) {
    const view = views[resource.kind];
    if (!view) continue;
    ages.set(ageKey(resource, ANY_CHANGE), trackChangeAge(view, clock));
    for (const [part, pick] of Object.entries(parts)) {
      ages.set(ageKey(resource, part), trackChangeAge(view, clock, pick));
    }
  }
  const unsubscribe = controller.reads.map((read, index) => subscribe(read, index === 0, options));

  return {
    find,
    storeOf: <T extends KubeObject>(resource: Resource<T>): Store<T> => {
      const view = find(resource);
      if (view && controller.reads.some((read) => isSameKind(read.resource, resource))) return view.store;
      throw new Error(
        `controller ${controller.name} does not read ${resource.kind}. Add read(…) of it to the controller's reads`,
      );
    },
    ageMs: (resource, key, part = ANY_CHANGE) => {
      const age = ages.get(ageKey(resource, part));
      if (age) return age.ageMs(key);
      throw new Error(
        `controller ${controller.name} tracks no age '${part}' of ${resource.kind}. Add it to the ages of its read`,
      );
    },
    staleReason: (maxAgeMs) => {
      for (const { resource } of controller.reads) {
        const view = views[resource.kind];
        const reason = view
          ? staleReason(view.reflector.freshness(), resource.kind, maxAgeMs)
          : `there is no view of ${resource.kind}`;
        if (reason !== undefined) return reason;
      }
      return undefined;
    },
    close: () => {
      for (const leave of unsubscribe) leave();
      for (const age of ages.values()) age.close();
    },
  };

  function find<T extends KubeObject>(resource: Resource<T>): View<T> | undefined {
    const view = views[resource.kind];
    // A view of this resource holds objects of this type.
    return view && isSameKind(view.resource, resource) ? (view as unknown as View<T>) : undefined;
  }
}

function isSameKind(a: Resource, b: Resource): boolean {
  return a.kind === b.kind && a.group === b.group;
}

function ageKey({ kind }: Resource, part: string): string {
  return `${kind}/${part}`;
}

function subscribe(
  read: KindRead,
  isFirst: boolean,
  { views, log, changed }: ControllerViewsOptions,
): () => void {
  const view = views[read.resource.kind];
  const keysOf: KeysOf = read.keys ?? (isFirst ? ({ metadata }) => [storeKey(metadata)] : () => []);
  // Keys of the initial list wait behind keys of changes: `synced` becomes true only after the list was delivered.
  let synced = false;
  void view?.reflector.synced().then(() => (synced = true));
  const leave = view?.store.subscribe({
    added: (object) => add(object),
    updated: (object, before) => {
      if (isChanged(before, object)) add(object, before);
    },
    removed: (last) => add(last),
  });
  return leave ?? (() => undefined);

  function add(...objects: readonly KubeObject[]): void {
    for (const key of new Set(objects.flatMap((object) => [...keysOf(object)]))) {
      changed(key, !synced, read.gatherMs ?? 0);
    }
  }

  /** A predicate that throws must not hide a change. */
  function isChanged(before: KubeObject, after: KubeObject): boolean {
    try {
      return read.changed?.(before, after) ?? true;
    } catch (error) {
      log.error('predicate failed', { kind: after.kind, object: storeKey(after.metadata), error });
      return true;
    }
  }
}
