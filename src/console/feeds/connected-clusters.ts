/** Watches the clusters that the hub lists, as far as they can be connected. */

import { MACHINES } from '../../api/generated/resources.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { CallReport } from '../../kube/client/request.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { type ClusterFeed, createClusterFeed } from './cluster-feed.ts';
import { withFirstState } from './first-state.ts';

/** With whose rights a cluster is read. `unchecked context`: the context of its name may lead to another cluster. */
export type ShownAccess = 'hub' | 'context' | 'unchecked context' | 'Secret';

export interface ShownConnection {
  /** It is closed when the cluster is not shown. */
  readonly client: Client;
  readonly by: ShownAccess;
  /** Aborted with the reason when nothing that was read may be shown any more. Absent: the last state stays. */
  readonly refused?: AbortSignal;
}

/** Connects to the cluster of this name. Rejects with why it cannot. */
export type ConnectToCluster = (
  name: string,
  onCall: (report: CallReport) => void,
) => Promise<ShownConnection>;

export interface ConnectedCluster extends ShownConnection {
  readonly name: string;
  readonly server: string;
  readonly feed: ClusterFeed;
}

export interface ListedCluster {
  readonly name: string;
  /** Differs when the cluster has to be connected again. */
  readonly version: string;
}

export interface ConnectedClusters {
  /** Lists the connected clusters. */
  list(): readonly ConnectedCluster[];
  /** Explains why a cluster is not connected. */
  missingReason(name: string): string | undefined;
  /** Connects clusters that are new or have other credentials, and ends the watches of those that are not in the list. */
  update(clusters: readonly ListedCluster[]): Promise<void>;
  /** Resolves when all watches have ended. */
  close(): Promise<void>;
}

export interface ClustersOptions {
  readonly clock: Clock;
  readonly connectTo: ConnectToCluster;
  readonly onChange: () => void;
}

interface OpenCluster extends ConnectedCluster {
  readonly version: string;
  /** Whether the server refused the credentials at the last call. */
  readonly isRefused: () => boolean;
  readonly end: () => Promise<void>;
}

interface MissingCluster {
  readonly version: string;
  readonly reason: string;
}

interface WatchedConnection extends ShownConnection {
  readonly isRefused: () => boolean;
}

/**
 * How often a cluster that is not read is tried again, and refused credentials are read again. Some are of a program that asks a person, and
 * a cluster that does not answer takes 5 s, in which no other one is added.
 */
const RENEW_MS = 30_000;
const CHECK_TIMEOUT_MS = 5000;

export function createConnectedClusters({ clock, connectTo, onChange }: ClustersOptions): ConnectedClusters {
  const open = new Map<string, OpenCluster>();
  const missing = new Map<string, MissingCluster>();
  /** When a cluster was tried last that is not read, or whose credentials were refused. */
  const triedMs = new Map<string, number>();
  /** The ends of clusters that refused the credentials. */
  const ending = new Set<Promise<void>>();
  return {
    list: () => [...open.values()],
    missingReason: (name) => missing.get(name)?.reason,
    async update(clusters) {
      const versions = new Map(clusters.map(({ name, version }) => [name, version]));
      const ended = [...open.values()].filter(({ name, version }) => versions.get(name) !== version);
      for (const { name } of ended) open.delete(name);
      for (const name of missing.keys()) if (!versions.has(name)) missing.delete(name);
      const added = clusters.filter(isAddDue);
      const refused = [...open.values()].filter(({ name, isRefused }) => isRefused() && isRenewalDue(name));
      await Promise.all([...ended.map(({ end }) => end()), ...added.map(add), ...refused.map(renew)]);
      if (ended.length + added.length > 0) onChange();
    },
    close: async () =>
      void (await Promise.all([...Array.from(open.values(), ({ end }) => end()), ...ending])),
  };

  async function add({ name, version }: ListedCluster): Promise<void> {
    triedMs.set(name, clock.monotonicMs());
    try {
      const connection = await connectWatched(connectTo, name);
      const cluster = openCluster({ name, version }, connection);
      open.set(name, cluster);
      missing.delete(name);
      triedMs.delete(name);
      dropWhenRefused(cluster, connection);
    } catch (error) {
      missing.set(name, { version, reason: notShownReason(error) });
    }
  }

  /** It is connected again by an update. */
  function dropWhenRefused(cluster: OpenCluster, { refused }: ShownConnection): void {
    const drop = (): void => {
      if (open.get(cluster.name) !== cluster) return;
      open.delete(cluster.name);
      triedMs.set(cluster.name, clock.monotonicMs());
      missing.set(cluster.name, { version: cluster.version, reason: notShownReason(refused?.reason) });
      const end = cluster.end();
      ending.add(end);
      void end.finally(() => ending.delete(end));
      onChange();
    };
    if (refused?.aborted) drop();
    else refused?.addEventListener('abort', drop, { once: true });
  }

  function isAddDue({ name, version }: ListedCluster): boolean {
    if (open.has(name)) return false;
    return missing.get(name)?.version !== version || isRenewalDue(name);
  }

  function isRenewalDue(name: string): boolean {
    return clock.monotonicMs() >= (triedMs.get(name) ?? Number.NEGATIVE_INFINITY) + RENEW_MS;
  }

  /** The last state stays until the server accepts the credentials that are read now. */
  async function renew(old: OpenCluster): Promise<void> {
    triedMs.set(old.name, clock.monotonicMs());
    const next = await connectWatched(connectTo, old.name).catch(() => undefined);
    if (!next) return;
    if (!(await isAccepted(next.client))) return await next.client.close();
    open.set(old.name, openCluster(old, next));
    await old.end();
    onChange();
  }

  function openCluster({ name, version }: ListedCluster, connection: WatchedConnection): OpenCluster {
    const { client } = connection;
    const feed = withFirstState(createClusterFeed({ client, clock, cluster: name }));
    feed.subscribe(onChange);
    const stop = new AbortController();
    const running = feed.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
      await client.close();
    };
    return { ...connection, name, version, server: client.server, feed, end };
  }
}

async function connectWatched(connectTo: ConnectToCluster, name: string): Promise<WatchedConnection> {
  let last = '';
  const connection = await connectTo(name, ({ code }) => {
    last = code;
  });
  // One that ends when it is refused is connected again by an update.
  return { ...connection, isRefused: () => connection.refused === undefined && last === '401' };
}

function notShownReason(error: unknown): string {
  return `its machines are not shown: ${messageOf(error)}`;
}

/** A right that is missing is named by the watches. */
async function isAccepted(client: Client): Promise<boolean> {
  try {
    await client.list(MACHINES, { limit: 1, timeoutMs: CHECK_TIMEOUT_MS });
    return true;
  } catch (error) {
    return isKubeError(error, 'Forbidden');
  }
}
