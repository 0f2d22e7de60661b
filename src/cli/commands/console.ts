/** `kubenode console`: a page in the browser that shows the fleet as it changes. It changes nothing. */
import { Command } from 'commander';
import { FLEET_POLICIES, MACHINES, PIPELINES } from '../../api/generated/resources.ts';
import { createFleetSource } from '../../console/feeds/source.ts';
import { recordHistory } from '../../console/server/history.ts';
import { readPageFiles } from '../../console/server/page-files.ts';
import { CONSOLE_PORT, startConsoleServer } from '../../console/server/server.ts';
import type { LiveFeed } from '../../kube/cache/live-feed.ts';
import type { Client } from '../../kube/client/client.ts';
import { connect } from '../../kube/client/connect.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { Resource } from '../../kube/objects/object.ts';
import type { FleetLimitsView } from '../../views/fleet/policy-view.ts';
import type { LiveHub } from '../../views/release/commits.ts';
import { addConnectionOptions, type ConnectionFlags, findKubeconfig } from '../connection.ts';
import { CliError, EXIT } from '../errors.ts';
import { withCluster } from '../fleet/read.ts';
import { findUnlimited, findUnsynced } from '../fleet/sync-leases.ts';
import type { Io } from '../io.ts';
import { createFleetLimitsFeed } from '../live/fleet-limits-feed.ts';
import { createHubFeed } from '../live/hub-feed.ts';
import { createIntegerParser } from '../option-parsers.ts';

const HELP = `
Serves one page: the clusters by stage, each machine with its state and what it waits for, rollouts with their batches, repairs
as timelines, grants against limits, and the limits over clusters. The page follows the changes by itself. It is read-only, and it shows
what your own credentials may read: anyone who opens it sees the same, so keep the address on this machine, or put a proxy with a login
in front.

--context selects the hub. The machines of a cluster are shown if the kubeconfig has a context with the name of the cluster. A cluster
without a hub is shown alone.

Examples:
  kubenode console
  kubenode console --context hub --port 9000`;

interface ConsoleFlags extends ConnectionFlags {
  readonly port: number;
  readonly host: string;
}

export function createConsoleCommand(io: Io): Command {
  const command = new Command('console')
    .description('serve a page that shows the fleet as it changes, until Ctrl-C')
    .option(
      '--port <n>',
      'port to listen on; 0 selects a free port',
      createIntegerParser(0, 65_535),
      CONSOLE_PORT,
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((flags: ConsoleFlags) =>
    withCluster(io, flags, (client) => serveConsole(io, client, flags)),
  );
}

async function serveConsole(io: Io, client: Client, flags: ConsoleFlags): Promise<void> {
  const { clock, signal } = io;
  const files = await readPageFiles();
  const isHub = await isInstalled(client, PIPELINES, signal);
  if (!isHub && !(await isInstalled(client, MACHINES, signal))) throw notKubenode(client);
  const hasFleetLimits = isHub && (await isInstalled(client, FLEET_POLICIES, signal));
  const kubeconfig = findKubeconfig(io, flags);
  const fleet = createFleetSource({
    clock,
    home: { name: homeName(flags), client },
    hub: isHub ? createHub(io, client, flags) : undefined,
    fleetLimits: hasFleetLimits ? createFleetLimits(io, client, flags) : undefined,
    connectTo: (context) => connect({ clock, context, ...(kubeconfig === undefined ? {} : { kubeconfig }) }),
  });
  const source = recordHistory(fleet, clock);
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const running = Promise.all([fleet.run(ended), source.run(ended)]);
  try {
    const { host, port } = flags;
    const server = await startConsoleServer({ files, source, clock, host, port });
    io.out(`The console: ${server.url}\n`);
    await untilAborted(signal);
    await server.close();
  } finally {
    stop.abort();
    await running;
  }
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

function createHub(io: Io, client: Client, flags: ConnectionFlags): LiveFeed<LiveHub> {
  const { clock, signal } = io;
  return createHubFeed({
    client,
    clock,
    unsynced: [],
    findUnsynced: (pipelines) => findUnsynced(client, pipelines, { now: clock.now(), flags, signal }),
  });
}

function createFleetLimits(io: Io, client: Client, flags: ConnectionFlags): LiveFeed<FleetLimitsView> {
  const { clock, signal } = io;
  return createFleetLimitsFeed({
    client,
    clock,
    findUnlimited: (policies) => findUnlimited(client, policies, { now: clock.now(), flags, signal }),
  });
}

/** Names of contexts may be paths, and the name begins the keys of rows. */
function homeName({ context = 'this cluster' }: ConnectionFlags): string {
  return context.slice(context.lastIndexOf('/') + 1);
}

/** Ctrl-C is how it ends: that is not an error. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}
