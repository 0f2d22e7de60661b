/**
 * Feeds the live state of a hub, from watches of its objects. Whether a process syncs is read every few seconds: a renewal does not count
 * as a change.
 */
import { CLUSTERS, PIPELINES, RELEASES } from '../../api/generated/resources.ts';
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import { createLiveFeed, type LiveFeed } from '../../kube/cache/live-feed.ts';
import { createView } from '../../kube/cache/view.ts';
import type { Client } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Clock } from '../../os/clock.ts';
import { commitViews, type LiveHub } from '../../views/release/commits.ts';
import { sortHub } from '../../views/status/hub-objects.ts';
import { summarizeHub } from '../../views/status/hub-status.ts';
import { connectedAs } from './connected-as.ts';

/** The interval of the checks: a third of the term of a Lease. */
const LEASE_CHECK_MS = 5000;

export interface HubFeedOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** The reasons known at the start why pipelines are not synced, a sentence each. */
  readonly unsynced: readonly string[];
  /** Reads again why pipelines are not synced. */
  readonly findUnsynced: (pipelines: readonly Pipeline[]) => Promise<readonly string[]>;
}

export function createHubFeed({ findUnsynced, ...options }: HubFeedOptions): LiveFeed<LiveHub> {
  let { unsynced } = options;
  return createLiveFeed(options, (parts) => {
    const pipelines = createView<Pipeline>({ ...parts, resource: PIPELINES, transform: wholePipeline });
    const clusters = createView<Cluster>({ ...parts, resource: CLUSTERS });
    const releases = createView<Release>({ ...parts, resource: RELEASES });
    return {
      views: [pipelines, clusters, releases],
      current: () => {
        const hub = sortHub({
          pipelines: pipelines.store.list(),
          clusters: clusters.store.list(),
          releases: releases.store.list(),
        });
        return {
          ...summarizeHub(hub, { now: options.clock.now(), unsynced }),
          commits: commitViews(hub.releases, hub.pipelines),
          connections: new Map(hub.clusters.map((each) => [each.metadata.name, connectedAs(each)])),
        };
      },
      async work(signal, notify) {
        while (!signal.aborted) {
          await options.clock.sleep(LEASE_CHECK_MS, signal).catch(() => undefined);
          if (signal.aborted) return;
          // While the server does not answer, the watches report it.
          unsynced = await findUnsynced(pipelines.store.list()).catch(() => unsynced);
          notify();
        }
      },
    };
  });
}

/** Keeps the whole Pipeline: a note names its field managers. */
function wholePipeline(object: KubeObject): Pipeline {
  return object as Pipeline;
}
