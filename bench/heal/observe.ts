/** What a watch of this process shows of one cluster, and when. */
import { REMEDY_OPERATION_JOBS } from '../../src/api/generated/resources.ts';
import type { RemedyOperationJob } from '../../src/api/generated/types.ts';
import { createView, type View } from '../../src/kube/cache/view.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { NODES } from '../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import type { Log } from '../../src/kube/process/log.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { systemRandom } from '../../src/os/system-random.ts';

const WITHIN_MS = 180_000;
const QUIET: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => QUIET };

export interface Observed {
  readonly nodes: View;
  readonly jobs: View<RemedyOperationJob>;
  stop(): Promise<void>;
}

export async function observe(client: Client): Promise<Observed> {
  const shared = { client, clock: createSystemClock(), random: systemRandom, log: QUIET };
  const nodes = createView({ ...shared, resource: NODES });
  const jobs = createView<RemedyOperationJob>({ ...shared, resource: REMEDY_OPERATION_JOBS });
  const stop = new AbortController();
  const running = Promise.all([nodes.reflector.run(stop.signal), jobs.reflector.run(stop.signal)]);
  await Promise.all([nodes.reflector.synced(stop.signal), jobs.reflector.synced(stop.signal)]);
  return {
    nodes,
    jobs,
    async stop() {
      stop.abort();
      await running;
    },
  };
}

/** The time of this process at which an object first holds; also of one that does now. */
export async function momentOf<T extends KubeObject>(
  { store }: View<T>,
  holds: (object: T) => boolean,
  what: string,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const check = (object: T): void => {
    try {
      if (holds(object)) resolve(performance.now());
    } catch (error) {
      reject(error);
    }
  };
  const timer = setTimeout(() => reject(new Error(`${what}: not within ${WITHIN_MS} ms`)), WITHIN_MS);
  const unsubscribe = store.subscribe({ added: check, updated: check });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}
