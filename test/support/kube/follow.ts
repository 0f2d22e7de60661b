/** Follows a kind by its watch, for tests that look at all of its objects again and again: each list of a hundred takes 50 ms of CPU. */

import type { Store } from '../../../src/kube/cache/store.ts';
import { createView } from '../../../src/kube/cache/view.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { memoryLog } from '../memory-log.ts';

export interface Followed<T extends KubeObject> {
  /** Holds what the watch delivered so far. */
  readonly store: Store<T>;
  stop(): Promise<void>;
}

/** Resolves when the store holds what the server had. */
export async function follow<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
): Promise<Followed<T>> {
  const { store, reflector } = createView<T>({
    client,
    resource,
    clock: createSystemClock(),
    log: memoryLog(),
    random: () => 0.5,
  });
  const end = new AbortController();
  const running = reflector.run(end.signal);
  await reflector.synced();
  return {
    store,
    stop: async () => {
      end.abort();
      await running;
    },
  };
}
