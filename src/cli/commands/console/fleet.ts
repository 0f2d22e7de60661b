/** Opens the fleet that a console shows, with one client: what the hub lists, and the machines of the cluster itself. */
import { CLUSTERS, FLEET_POLICIES, MACHINES, PIPELINES } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import type { ConnectToCluster } from '../../../console/feeds/connected-clusters.ts';
import { createFleetSource, type FleetSource } from '../../../console/feeds/source.ts';
import type { LiveFeed } from '../../../kube/cache/live-feed.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { Resource } from '../../../kube/objects/object.ts';
import type { FleetLimitsView } from '../../../views/fleet/policy-view.ts';
import type { LiveHub } from '../../../views/release/commits.ts';
import type { ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { findUnlimited, findUnsynced } from '../../fleet/sync-leases.ts';
import type { Io } from '../../io.ts';
import { createFleetLimitsFeed } from '../../live/fleet-limits-feed.ts';
import { createHubFeed } from '../../live/hub-feed.ts';

type FeedIo = Pick<Io, 'clock' | 'signal'>;

export interface ConsoleFleetOptions {
  readonly client: Client;
  /** The connection, for the commands that notes name. */
  readonly flags: ConnectionFlags;
  /** The name of the cluster itself. */
  readonly name: string;
  /** Connects to another cluster of the hub. Rejects with why it is not shown. */
  readonly connectTo: ConnectToCluster;
}

export async function openConsoleFleet(
  io: FeedIo,
  { client, flags, name, connectTo }: ConsoleFleetOptions,
): Promise<FleetSource> {
  const { clock, signal } = io;
  const isHub = await isInstalled(client, PIPELINES, signal);
  if (!isHub && !(await isInstalled(client, MACHINES, signal))) throw notKubenode(client);
  const hasFleetLimits = isHub && (await isInstalled(client, FLEET_POLICIES, signal));
  return createFleetSource({
    clock,
    home: { name, client },
    hub: isHub ? createHub(io, client, flags) : undefined,
    fleetLimits: hasFleetLimits ? createFleetLimits(io, client, flags) : undefined,
    connectTo,
  });
}

/** Finds the Cluster of the hub that is the hub itself. Undefined: it has none, or it may not be read. */
export async function findOwnCluster(client: Client, signal: AbortSignal): Promise<string | undefined> {
  try {
    for await (const { items } of client.pages<Cluster>(CLUSTERS, { signal })) {
      const own = items.find(({ spec }) => spec.connection?.inCluster === true);
      if (own) return own.metadata.name;
    }
  } catch (error) {
    if (!isKubeError(error, 'Forbidden', 'NotFound')) throw error;
  }
  return undefined;
}

/** Whether a kind that may not be read exists is not known: the page names the right that is missing, and shows the rest. */
async function isInstalled(client: Client, resource: Resource, signal: AbortSignal): Promise<boolean> {
  try {
    await client.list(resource, { limit: 1, signal });
    return true;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    if (isKubeError(error, 'Forbidden')) return true;
    throw error;
  }
}

function notKubenode({ server }: Client): CliError {
  return new CliError('kubenode is not installed in this cluster', {
    where: server,
    hint: 'run `kubenode install`, or point --context at the hub',
    exitCode: EXIT.badInput,
  });
}

function createHub(io: FeedIo, client: Client, flags: ConnectionFlags): LiveFeed<LiveHub> {
  const { clock, signal } = io;
  return createHubFeed({
    client,
    clock,
    unsynced: [],
    findUnsynced: (pipelines) => findUnsynced(client, pipelines, { now: clock.now(), flags, signal }),
  });
}

function createFleetLimits(io: FeedIo, client: Client, flags: ConnectionFlags): LiveFeed<FleetLimitsView> {
  const { clock, signal } = io;
  return createFleetLimitsFeed({
    client,
    clock,
    findUnlimited: (policies) => findUnlimited(client, policies, { now: clock.now(), flags, signal }),
  });
}
