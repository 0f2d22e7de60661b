/** Creates the context of a reconcile in a replay: the recorded objects to read, and no way to write. */
import { NODE_REMEDIERS } from '../../../../api/generated/resources.ts';
import type { NodeRemedier } from '../../../../api/generated/types.ts';
import { createStore, type Store } from '../../../../kube/cache/store.ts';
import type { ReadableStore, ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import type { KubeObject, Resource } from '../../../../kube/objects/object.ts';
import type { Log } from '../../../../kube/process/log.ts';
import type { Clock } from '../../../../os/clock.ts';
import type { ReplayStores } from '../../../../rules/recording/replay-views.ts';
import { FACT_VIEWS, OBJECT_VIEWS } from '../../../../rules/views.ts';

/** Returns the store of a kind; undefined for a kind that is not recorded. */
export function storeOf(stores: ReplayStores, { kind }: Resource): Store | undefined {
  const view = OBJECT_VIEWS.find((name) => FACT_VIEWS[name].resource.kind === kind);
  return view && stores[view];
}

export function createReplayContext(
  stores: ReplayStores,
  rule: NodeRemedier,
  clock: Clock,
  log: Log,
): ReconcileContext {
  const rules = createStore<NodeRemedier>({ log });
  rules.replace([rule]);
  return {
    signal: new AbortController().signal,
    epoch: undefined,
    log,
    clock,
    view: <T extends KubeObject>(resource: Resource<T>): ReadableStore<T> => {
      const store = resource.kind === NODE_REMEDIERS.kind ? rules : storeOf(stores, resource);
      if (!store) throw new Error(`${resource.kind} is not recorded`);
      // The store of a kind holds objects of its type.
      return store as unknown as ReadableStore<T>;
    },
    ageMs: () => undefined,
    // The start of a fault: the facts know it as long as the recording goes on.
    applyStatus: (_, intent) => Promise.resolve(intent as never),
    reportStatus: () => undefined,
    event: () => undefined,
    apply: writesNothing,
    patch: writesNothing,
    create: writesNothing,
    delete: writesNothing,
    evict: writesNothing,
    addFinalizer: writesNothing,
    removeFinalizer: writesNothing,
  };
}

function writesNothing(): Promise<never> {
  return Promise.reject(new Error('a replay writes nothing'));
}
