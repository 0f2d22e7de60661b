/** Creates a view of one kind that follows the journal of the simulated API server, and now and then falls behind. */

import { MACHINE_INDEXERS } from '../../api/diagnosis/silent-machines.ts';
import { MACHINES, MAINTENANCE_EVENTS, REMEDY_OPERATION_JOBS } from '../../api/generated/resources.ts';
import { CERTIFICATE_REQUEST_INDEXERS } from '../../api/machine/certificate-requests.ts';
import { JOB_INDEXERS } from '../../api/machine/jobs.ts';
import { MAINTENANCE_EVENT_INDEXERS } from '../../api/machine/maintenance-events.ts';
import { CERTIFICATE_REQUESTS } from '../../kube/auth/certificate-requests.ts';
import { createStore } from '../../kube/cache/store.ts';
import type { View } from '../../kube/cache/view.ts';
import type { Resource } from '../../kube/objects/object.ts';
import type { Log } from '../../kube/process/log.ts';
import type { SimulatedApi } from '../api-server/simulated-api.ts';
import type { Random } from '../random.ts';

export const quietLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quietLog };

export interface FollowingViewOptions {
  readonly api: Pick<SimulatedApi, 'list' | 'journal'>;
  readonly random: Random;
  readonly nowMs: () => number;
  readonly isCalm: () => boolean;
  /** Returns the delay of each event, in milliseconds. Default: no event is late. */
  readonly delayMs?: () => number;
}

export interface FollowingView {
  readonly view: View;
  /** Reads what is new in the journal, unless the watch delivers nothing just now. */
  follow(): void;
}

const STUCK = 0.002;
const INDEXERS = { node: () => [] };
const INDEXERS_BY_KIND: Readonly<
  Record<string, Readonly<Record<string, (object: never) => readonly string[]>>>
> = {
  [MACHINES.kind]: MACHINE_INDEXERS,
  [MAINTENANCE_EVENTS.kind]: MAINTENANCE_EVENT_INDEXERS,
  [CERTIFICATE_REQUESTS.kind]: CERTIFICATE_REQUEST_INDEXERS,
  [REMEDY_OPERATION_JOBS.kind]: JOB_INDEXERS,
};

function indexersOf({ kind }: Resource): Readonly<Record<string, (object: never) => readonly string[]>> {
  return INDEXERS_BY_KIND[kind] ?? INDEXERS;
}

/** Creates a view that begins with a complete list. */
export function createFollowingView(
  resource: Resource,
  { api, random, nowMs, isCalm, delayMs = () => 0 }: FollowingViewOptions,
): FollowingView {
  const store = createStore({ log: quietLog, indexers: indexersOf(resource) as never });
  let position = api.journal.get(resource.kind)?.length ?? 0;
  let stuckUntilMs = 0;
  let followedMs = nowMs();
  store.replace(api.list(resource));
  return { view: createViewOf(), follow };

  function createViewOf(): View {
    const freshness = { synced: true, lastContactAt: undefined, error: undefined };
    return {
      resource,
      store,
      reflector: {
        run: () => Promise.resolve(),
        synced: () => Promise.resolve(),
        freshness: () => ({ ...freshness, ageMs: nowMs() - followedMs }),
        retryNow: () => {},
      },
      wrote: (answer) => {
        store.wrote(answer);
        return answer;
      },
      deleted: (object) => store.deleted(object),
    };
  }

  function follow(): void {
    if (!isCalm() && isStuck()) return;
    const journal = api.journal.get(resource.kind) ?? [];
    const untilMs = nowMs() - delayMs();
    for (const { atMs, before, after } of journal.slice(position)) {
      if (atMs > untilMs) break;
      if (after) store.put(after);
      else if (before) store.remove(before);
      position += 1;
    }
    followedMs = nowMs();
  }

  function isStuck(): boolean {
    if (random.chance(STUCK)) stuckUntilMs = nowMs() + 10_000 + random.below(50_000);
    return nowMs() < stuckUntilMs;
  }
}
