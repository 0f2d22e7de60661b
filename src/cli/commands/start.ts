/** `kubenode start`, also `npm start`: a local hub in the foreground, for evaluation and development. */
import { Command } from 'commander';
import { stopLocalFleet } from '../../local/fleet.ts';
import { type LocalFleetStatus, readLocalFleetStatus } from '../../local/status.ts';
import type { Io } from '../io.ts';
import { withProgress } from '../progress.ts';
import { addDirOption } from './local/dir-option.ts';
import { withLocalErrors } from './local/errors.ts';
import { startLocalClusters } from './local/up.ts';

const HELP = `
Starts the local hub (see: kubenode local up) with all kinds of kubenode, prints how to connect to it, and prints every
change of its state until Ctrl-C. Clusters that were already running keep running; this command stops only what it started.
The data is kept; "kubenode local down --wipe" removes it.`;

const POLL_MS = 2000;

export function createStartCommand(io: Io): Command {
  return addDirOption(io, new Command('start'))
    .description('run a local hub in the foreground, until Ctrl-C')
    .addHelpText('after', HELP)
    .action((flags: { dir: string }) => withLocalErrors(() => start(io, flags.dir)));
}

async function start(io: Io, dir: string): Promise<void> {
  const wasRunning = isRunning(await readLocalFleetStatus(dir, io.clock.now()));
  try {
    const { layout } = await withProgress(io, (progress) =>
      startLocalClusters(io, { dir, install: true, output: 'table' }, progress),
    );
    io.out(`
The hub is running, with the kinds of kubenode installed. In another terminal:
  export KUBECONFIG=${layout.kubeconfig}
  kubectl get crd
Ctrl-C ${wasRunning ? 'ends this output; the clusters keep running' : 'stops the hub'}.

`);
    await watch(io, dir);
  } finally {
    if (!wasRunning) await stop(io, dir);
  }
}

function isRunning(status: LocalFleetStatus | undefined): boolean {
  return status?.clusters.some(({ state }) => state !== 'Stopped') ?? false;
}

/** Prints only changes, so that the output also serves as the log of a service. */
async function watch(io: Io, dir: string): Promise<void> {
  let previous = '';
  while (!io.signal.aborted) {
    const text = formatStatus(await readLocalFleetStatus(dir, io.clock.now()));
    if (text !== previous) io.out(`${io.clock.now().toISOString()}\n${text}`);
    previous = text;
    await io.clock.sleep(POLL_MS, io.signal).catch(() => undefined);
  }
}

function formatStatus(status: LocalFleetStatus | undefined): string {
  if (!status) return '  no clusters found: start them with kubenode local up\n';
  return status.clusters
    .map(({ name, state, server, because }) => `  ${name}  ${state}  ${server}  ${because}\n`)
    .join('');
}

/** Runs after Ctrl-C, so it does not use the aborted signal; a second Ctrl-C ends the process at once. */
async function stop(io: Io, dir: string): Promise<void> {
  io.err('stopping\n');
  const signal = new AbortController().signal;
  await stopLocalFleet({ dir, clock: io.clock, signal, onStep: () => undefined, wipe: false });
}
