/** Watches the clusters that the hub lists, as far as they can be connected. */

import type { Client } from '../../kube/client/client.ts';
import type { Clock } from '../../os/clock.ts';
import { messageOf } from '../../os/errors.ts';
import { type ClusterFeed, createClusterFeed } from './cluster-feed.ts';
import { withFirstState } from './first-state.ts';

export interface ConnectedCluster {
  readonly name: string;
  readonly server: string;
  readonly client: Client;
  readonly feed: ClusterFeed;
}

export interface ConnectedClusters {
  /** Lists the connected clusters. */
  list(): readonly ConnectedCluster[];
  /** Explains why a cluster is not connected. */
  missingReason(name: string): string | undefined;
  /** Connects clusters that are new, and ends the watches of those that are not in the list. */
  update(names: readonly string[]): Promise<void>;
  /** Resolves when all watches have ended. */
  close(): Promise<void>;
}

export interface ClustersOptions {
  readonly clock: Clock;
  /** Connects to the cluster of this name. Rejects with why it cannot. */
  readonly connectTo: (name: string) => Promise<Client>;
  readonly onChange: () => void;
}

interface OpenCluster extends ConnectedCluster {
  readonly end: () => Promise<void>;
}

export function createConnectedClusters({ clock, connectTo, onChange }: ClustersOptions): ConnectedClusters {
  const open = new Map<string, OpenCluster>();
  const missing = new Map<string, string>();
  return {
    list: () => [...open.values()],
    missingReason: (name) => missing.get(name),
    async update(names) {
      const ended = [...open.values()].filter(({ name }) => !names.includes(name));
      for (const { name } of ended) open.delete(name);
      const added = names.filter((name) => !open.has(name));
      await Promise.all([...ended.map(({ end }) => end()), ...added.map(add)]);
      if (ended.length + added.length > 0) onChange();
    },
    close: async () => void (await Promise.all([...open.values()].map(({ end }) => end()))),
  };

  async function add(name: string): Promise<void> {
    try {
      open.set(name, openCluster(name, await connectTo(name)));
      missing.delete(name);
    } catch (error) {
      missing.set(name, `its machines are not shown: ${messageOf(error)}`);
    }
  }

  function openCluster(name: string, client: Client): OpenCluster {
    const feed = withFirstState(createClusterFeed({ client, clock, cluster: name }));
    feed.subscribe(onChange);
    const stop = new AbortController();
    const running = feed.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
      await client.close();
    };
    return { name, server: client.server, client, feed, end };
  }
}
