/** Conditions of the own Node at the API server. */

import { MANAGER_AGENT } from '../../../api/names.ts';
import { createReflector, type Reflector } from '../../../kube/cache/reflector.ts';
import { createStore } from '../../../kube/cache/store.ts';
import { createTransform } from '../../../kube/cache/trim.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { Log } from '../../../kube/process/log.ts';
import type { Clock } from '../../../os/clock.ts';
import type { NodeCondition, NodeWithConditions } from './condition-owners.ts';

export interface NodeConditionsApi {
  /** The newest state; `fresh` does not trust the watch. Undefined while the Node is missing. */
  node(options?: { readonly fresh?: boolean }): Promise<NodeWithConditions | undefined>;
  /**
   * Exactly these: conditions of an earlier call that are not in the list are removed. Fails with Conflict when the Node is
   * not the observed one any more.
   */
  write(conditions: readonly NodeCondition[], observed: NodeWithConditions): Promise<void>;
  /** Watches the conditions until the signal is aborted. Never rejects. */
  watch(onChange: () => void, signal: AbortSignal): Promise<void>;
}

export interface NodeConditionsOptions {
  readonly client: Pick<Client, 'get' | 'pages' | 'watch' | 'apply'>;
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
}

/** How often the Node is read while the watch is not current. */
const POLL_MS = 10_000;
/** The watches of the agent on its Machine are spread over the same time. */
const RECONNECT_SPREAD_MS = 100_000;

export function createNodeConditionsApi(options: NodeConditionsOptions): NodeConditionsApi {
  const { client, name, clock, log, random } = options;
  const store = createStore<NodeWithConditions>({ log });
  let reflector: Reflector | undefined;
  let read: { readonly node: NodeWithConditions | undefined; readonly atMs: number } | undefined;

  async function get(): Promise<NodeWithConditions | undefined> {
    const atMs = clock.monotonicMs();
    const node = await unlessMissing(client.get(NODES, { name }));
    read = { node: node && note(node), atMs };
    return read.node;
  }

  /** The watch may be behind what was read or written. */
  function note(object: KubeObject): NodeWithConditions {
    const node = trim()(object);
    store.wrote(node);
    return node;
  }

  return {
    async node({ fresh = false } = {}) {
      if (fresh) return await get();
      if (isCurrent(reflector)) return store.get(name);
      return read && clock.monotonicMs() - read.atMs < POLL_MS ? read.node : await get();
    },
    async write(conditions, observed) {
      const { resourceVersion } = observed.metadata;
      const metadata = { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
      const object = { apiVersion: 'v1', kind: 'Node', metadata, status: { conditions } };
      const written = await client.apply(NODES, object, {
        fieldManager: MANAGER_AGENT,
        // A program that writes no more stays an owner of what it wrote with the same value.
        force: true,
        subresource: 'status',
      });
      read = { node: note(written), atMs: clock.monotonicMs() };
    },
    async watch(onChange, signal) {
      const unsubscribe = store.subscribe({ added: onChange, updated: onChange, removed: onChange });
      reflector = createReflector<NodeWithConditions>({
        client,
        resource: NODES,
        fieldSelector: `metadata.name=${name}`,
        store,
        clock,
        log,
        random,
        transform: trim(),
        recovered: onChange,
        reconnectSpreadMs: RECONNECT_SPREAD_MS,
      });
      await reflector.run(signal);
      reflector = undefined;
      unsubscribe();
    },
  };
}

/** Keeps who owns what of the conditions, and drops the images, most of a large Node. */
function trim(): (object: KubeObject) => NodeWithConditions {
  return createTransform<NodeWithConditions>(
    ['status.images', 'status.volumesAttached', 'status.volumesInUse'],
    [MANAGER_AGENT],
    ['f:status', 'f:conditions'],
  );
}

function isCurrent(reflector: Reflector | undefined): boolean {
  const { synced, error } = reflector?.freshness() ?? {};
  return synced === true && error === undefined;
}
