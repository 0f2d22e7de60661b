import { Command } from 'commander';
import type { Pipeline } from '../../../api/generated/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { formatHubStatus, type HubStatus } from '../../../views/status/hub-status.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { setExitCode } from '../../exit.ts';
import { readHub } from '../../fleet/hub-objects.ts';
import { readHubStatus } from '../../fleet/hub-status.ts';
import { withCluster } from '../../fleet/read.ts';
import { findUnsynced } from '../../fleet/sync-leases.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { refuseWatchOf, showCluster } from './cluster.ts';
import { hubExitCode } from './exit-code.ts';
import { watchHub } from './watch.ts';

const HELP = `
Prints first what endangers machines, and what to do: a dark zone, an open breaker, a kill switch, no controllers, machines
that are unhealthy. Then each pipeline: the head of its repository and what it is waiting for. Then each cluster: the commit it
runs, its state, why, and since when; and beside that its health, with how many of its machines are Ready. A cluster runs a
commit and its machines may fail all the same, so these are two columns. Its own Defender counts the machines.

Exit codes, the first that holds:
  1   an error, or nothing syncs: what is shown is old
  3   machines or objects are unhealthy or unknown, or something endangers them
  1   a person is needed for a commit: it failed or is held, or a release needs an approval
  2   the commit is not everywhere yet: it soaks, or waits for other clusters, a window or a pause
  0   the commit is everywhere, and all is healthy

With the name of a Cluster: its units and its objects, what each waits for, since when, and what ends that. All of it is what sync
recorded in the hub: the cluster itself is not asked.

With --watch it is shown as it changes, until Ctrl-C, which ends it with 0. A terminal is redrawn: stages in order, and the
clusters that are in the same state together. Elsewhere each change is a line; with -o json each change is a JSON document on
a line. While the server does not answer, the last state is shown, and why it is old.

Examples:
  kubenode status
  kubenode status prod-eu
  kubenode status --watch
  kubenode status --watch -o json | jq -c '.clusters[] | {name, state, health, machines}'`;

interface StatusFlags extends ConnectionFlags {
  readonly output: OutputFormat;
  readonly watch?: true;
}

export function createStatusCommand(io: Io): Command {
  const command = new Command('status')
    .description('show each pipeline and cluster: what it runs, why, since when, and how its machines are')
    .argument('[cluster]', 'name of a Cluster: its units and objects, and what each of them waits for')
    .option('-w, --watch', 'show changes as they happen, until Ctrl-C')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((name: string | undefined, flags: StatusFlags) => {
    if (name !== undefined && flags.watch) refuseWatchOf(name);
    return withCluster(io, flags, (client) =>
      name === undefined ? showHub(io, client, flags) : showOne(io, client, name, flags),
    );
  });
}

async function showHub(io: Io, client: Client, flags: StatusFlags): Promise<void> {
  const { output } = flags;
  const read = async (): Promise<HubStatus> =>
    readHubStatus(io, client, await readHub(client, io.signal), flags);
  if (flags.watch) {
    const { signal, clock } = io;
    const check = (pipelines: readonly Pipeline[]): Promise<readonly string[]> =>
      findUnsynced(client, pipelines, { now: clock.now(), flags, signal });
    await watchHub(io, { client, output, readFirst: read, findUnsynced: check });
    return;
  }
  const status = await read();
  if (output === 'table') {
    io.out(formatHubStatus(status, io.clock.now(), io.screen()?.columns));
  } else printResult(io, output, status, () => ({ columns: [], rows: [] }));
  setExitCode(io, hubExitCode(status));
}

async function showOne(io: Io, client: Client, name: string, flags: StatusFlags): Promise<void> {
  const hub = await readHub(client, io.signal);
  const status = await readHubStatus(io, client, hub, flags);
  showCluster(io, { name, hub, status, output: flags.output });
}
