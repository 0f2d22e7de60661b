/** The whole fleet as the console shows it: the hub, its clusters, and the cluster of the context itself if it has machines. */

import type { LiveFeed } from '../../kube/cache/live-feed.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Clock } from '../../os/clock.ts';
import type { FleetLimitsView } from '../../views/fleet/policy-view.ts';
import type { LiveHub } from '../../views/release/commits.ts';
import type { ReadEvents } from '../server/explainer.ts';
import type { PresentSource } from '../server/history.ts';
import { type ClusterLine, type FleetRows, NO_STATE } from '../state/state.ts';
import { accessNotes } from './access-notes.ts';
import { type ClusterRows, createClusterFeed } from './cluster-feed.ts';
import { type ClusterMerge, createClusterMerge, isEmpty } from './cluster-merge.ts';
import {
  type ConnectedCluster,
  type ConnectedClusters,
  type ConnectToCluster,
  createConnectedClusters,
  type ShownAccess,
} from './connected-clusters.ts';
import { NOT_READ_YET, withFirstState } from './first-state.ts';
import { fleetLimitRows } from './fleet-limit-rows.ts';
import { type HubRows, hubRows, loneCluster, unreadRow } from './hub-rows.ts';
import { readMachineEvents } from './machine-events.ts';

export interface FleetSource extends PresentSource {
  readonly isHub: boolean;
  /** Reads the last Events of a machine that is shown, with the client of its cluster. */
  readonly readEvents: ReadEvents;
  /** Resolves after the signal, when all watches have ended. */
  run(signal: AbortSignal): Promise<void>;
}

export interface FleetSourceOptions {
  readonly home: { readonly name: string; readonly client: Client };
  /** Undefined: the context is not a hub. */
  readonly hub: LiveFeed<LiveHub> | undefined;
  /** Undefined: the context has no limits over clusters. */
  readonly fleetLimits?: LiveFeed<FleetLimitsView> | undefined;
  readonly connectTo: ConnectToCluster;
  readonly clock: Clock;
}

/** A kubeconfig may get the context of a cluster later. Each cluster is tried again after 30 s, or at the next of these times. */
const RETRY_MS = 10_000;

export function createFleetSource({
  home,
  hub,
  fleetLimits,
  connectTo,
  clock,
}: FleetSourceOptions): FleetSource {
  const handlers: (() => void)[] = [];
  const notify = (): void => {
    for (const handler of handlers) handler();
  };
  const members = createConnectedClusters({ clock, connectTo, onChange: notify });
  const ownFeed = createClusterFeed({ client: home.client, clock, cluster: home.name });
  // Beside a hub, most have no machines: that they are not read yet is nothing that a person has to know.
  const own = hub ? ownFeed : withFirstState(ownFeed);
  own.subscribe(notify);
  hub?.subscribe(notify);
  fleetLimits?.subscribe(notify);
  const merge = createClusterMerge();

  return {
    isHub: hub !== undefined,
    subscribe: (handler) => void handlers.push(handler),
    machine: (cluster, name) => shownCluster(cluster)?.feed.machine(name),
    async readEvents(cluster, name, signal) {
      const shown = shownCluster(cluster);
      if (!shown) return { events: [], problem: `cluster ${cluster} is not connected` };
      const reader = shown.by === 'Secret' ? 'the account of sync' : 'you';
      return await readMachineEvents(shown.client, name, { reader, signal });
    },
    current: () =>
      mergeRows(
        { home: { ...home, server: home.client.server, feed: own }, hub, fleetLimits, members },
        merge,
      ),
    async run(signal) {
      await Promise.all([
        own.run(signal),
        hub?.run(signal),
        fleetLimits?.run(signal),
        hub && followHub(hub, signal),
      ]);
      await members.close();
    },
  };

  function shownCluster(
    cluster: string,
  ): (Pick<ConnectedCluster, 'client' | 'feed'> & { readonly by?: ShownAccess }) | undefined {
    const member = members.list().find(({ name }) => name === cluster);
    return member ?? (cluster === home.name ? { client: home.client, feed: own } : undefined);
  }

  async function followHub(feed: LiveFeed<LiveHub>, signal: AbortSignal): Promise<void> {
    let change = new AbortController();
    feed.subscribe(() => change.abort());
    while (!signal.aborted) {
      change = new AbortController();
      const { clusters = [], connections } = feed.current() ?? {};
      const listed = clusters.map(({ name }) => ({ name, version: connections?.get(name) ?? '' }));
      await members.update(listed.filter(({ name }) => name !== home.name));
      await clock.sleep(RETRY_MS, AbortSignal.any([signal, change.signal])).catch(() => undefined);
    }
  }
}

interface ShownCluster {
  readonly name: string;
  readonly server: string;
  readonly feed: LiveFeed<ClusterRows>;
  readonly by?: ShownAccess;
}

interface Sources {
  readonly home: ShownCluster;
  readonly hub: LiveFeed<LiveHub> | undefined;
  readonly fleetLimits?: LiveFeed<FleetLimitsView> | undefined;
  readonly members: Pick<ConnectedClusters, 'missingReason'> & { list(): readonly ShownCluster[] };
}

export function mergeRows({ home, hub, fleetLimits, members }: Sources, merge: ClusterMerge): FleetRows {
  const rows = readHubRows({ home, hub, members });
  const lone = loneLine({ home, hub, members }, rows.clusters);
  const isHomeShown = lone !== undefined || Object.hasOwn(rows.clusters, home.name);
  const feeds = [...members.list().map(({ feed }) => feed), ...(isHomeShown ? [home.feed] : [])];
  const unseen = isHomeShown ? undefined : unseenReason({ home, hub, members });
  const merged = merge(feeds.flatMap((feed) => feed.current() ?? []));
  const overClusters = fleetLimitRows(fleetLimits, hub?.staleReason() !== undefined);
  return {
    ...rows,
    fleetPolicies: overClusters.fleetPolicies,
    ...(lone && { clusters: { ...rows.clusters, [home.name]: lone } }),
    ...merged,
    notes: {
      ...rows.notes,
      ...overClusters.notes,
      ...accessNotes(members.list()),
      ...(unseen !== undefined && unreadRow(`machines of ${home.name}`, unseen)),
      ...merged.notes,
    },
  };
}

function readHubRows({ home, hub, members }: Sources): HubRows {
  const status = hub?.current();
  const hubStale = hub?.staleReason();
  const notes = hubStale === undefined ? {} : unreadRow('hub', hubStale);
  if (!status) return { ...NO_STATE, notes };
  // The hub may list the cluster that it is in itself.
  const connected = new Map([home, ...members.list()].map(({ name, feed }) => [name, feed]));
  const stale = status.clusters.flatMap(({ name }) => {
    const feed = connected.get(name);
    const because = feed ? feed.staleReason() : (members.missingReason(name) ?? NOT_READ_YET);
    return because === undefined ? [] : [[name, because] as const];
  });
  const rows = hubRows(status, new Map(stale), new Set(connected.keys()));
  return { ...rows, notes: { ...rows.notes, ...notes } };
}

/**
 * Why it is not known whether the context's own cluster has machines. A hub that cannot be read explains that already, and so does
 * a member that is the same cluster.
 */
function unseenReason({ home, hub, members }: Sources): string | undefined {
  const isExplained =
    hub?.staleReason() !== undefined || members.list().some(({ server }) => server === home.server);
  return isExplained ? undefined : home.feed.staleReason();
}

/** The line of the context's own cluster: only if it has machines, and the hub does not list it under another name. */
function loneLine({ home, hub, members }: Sources, listed: HubRows['clusters']): ClusterLine | undefined {
  if (Object.hasOwn(listed, home.name) || members.list().some(({ server }) => server === home.server)) {
    return undefined;
  }
  if (hub && isEmpty(home.feed.current()?.machines ?? {})) return undefined;
  return loneCluster(home.name, Object.keys(listed).length, home.feed.staleReason());
}
