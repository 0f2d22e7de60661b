/** Views of the Defender that a test fills by hand. */
import { JOB_INDEXERS } from '../../../src/api/machine/jobs.ts';
import type { ObservedView, ObservedViews } from '../../../src/defender/facts/observed-views.ts';
import { POD_INDEXERS } from '../../../src/defender/facts/observed-views.ts';
import type { Freshness } from '../../../src/kube/cache/reflector.ts';
import { createStore, type StoreOptions, type WritableStore } from '../../../src/kube/cache/store.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { memoryLog } from '../../support/memory-log.ts';

type Writable<V> =
  V extends ObservedView<infer T>
    ? ObservedView<T> & { readonly store: WritableStore<T>; ageMs: number }
    : never;

type FleetViews = Required<ObservedViews>;

export type TestViews = { readonly [K in keyof FleetViews]: Writable<FleetViews[K]> };

export function testViews(): TestViews {
  return {
    machines: testView(),
    nodes: testView(),
    pods: testView({ indexers: POD_INDEXERS }),
    machineSets: testView(),
    policies: testView(),
    jobs: testView({ indexers: JOB_INDEXERS }),
    ledgers: testView(),
    allowances: testView(),
    rules: testView(),
    clusters: testView(),
  };
}

/** The initial list of each kind: what was put before. */
export function completeViews(views: TestViews): void {
  for (const { store } of Object.values(views)) {
    (store as WritableStore).replace(store.list());
  }
}

function testView<T extends KubeObject>(
  options: Partial<StoreOptions<T>> = {},
): ObservedView<T> & {
  readonly store: WritableStore<T>;
  ageMs: number;
} {
  const plain = createStore<T>({ log: memoryLog(), ...options });
  let version = 0;
  const store: WritableStore<T> = {
    ...plain,
    // Each put is a change, as on a server.
    put: (object) => {
      version += 1;
      plain.put({ ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
    },
    remove: (object) => plain.remove({ ...object, metadata: { ...object.metadata } }),
  };
  const view = {
    store,
    ageMs: 0,
    reflector: {
      freshness: (): Freshness => ({
        synced: store.hasSynced(),
        lastContactAt: undefined,
        ageMs: store.hasSynced() ? view.ageMs : Number.POSITIVE_INFINITY,
        error: undefined,
      }),
    },
  };
  return view;
}
