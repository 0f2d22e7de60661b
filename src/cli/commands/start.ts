/** `kubenode start`, also `npm start`: a local hub in the foreground, for evaluation and development. */
import { Command } from 'commander';
import { type BackoffState, backOffAfterError, NO_ERRORS } from '../../kube/process/backoff.ts';
import { repairLocalFleet, stopLocalFleet } from '../../local/fleet.ts';
import { type LocalFleetStatus, namedProcesses, readLocalFleetStatus } from '../../local/status.ts';
import { systemRandom } from '../../os/system-random.ts';
import { describeError } from '../errors.ts';
import type { Io } from '../io.ts';
import { withProgress } from '../progress.ts';
import { addDirOption } from './local/dir-option.ts';
import { withLocalErrors } from './local/errors.ts';
import { startLocalClusters } from './local/up.ts';

const HELP = `
Starts the local hub (see: kubenode local up) with all kinds of kubenode, prints how to connect to it, and prints every
change of its state until Ctrl-C. A process of it that ends is started again. Clusters that were already running keep running; this
command stops only what it started.
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
  let errors = NO_ERRORS;
  while (!io.signal.aborted) {
    const status = await readLocalFleetStatus(dir, io.clock.now());
    const text = formatStatus(status);
    if (text !== previous) io.out(`${io.clock.now().toISOString()}\n${text}`);
    previous = text;
    const ended = endedProcesses(status);
    if (ended.length > 0) errors = await repair(io, dir, ended, errors);
    await io.clock.sleep(Math.max(POLL_MS, errors.delayMs), io.signal).catch(() => undefined);
  }
}

/** Of a fleet of which none runs, nothing: it was stopped on purpose. */
export function endedProcesses(status: LocalFleetStatus | undefined): readonly string[] {
  if (!status) return [];
  const all = namedProcesses(status);
  const ended = all.filter(({ state }) => state === 'Stopped');
  return ended.length === all.length ? [] : ended.map(({ id }) => id);
}

/** A process that ends again and again is started with growing delays. */
async function repair(
  io: Io,
  dir: string,
  ended: readonly string[],
  errors: BackoffState,
): Promise<BackoffState> {
  const { clock, env, signal } = io;
  io.err(`${ended.join(', ')}: not running, starting again\n`);
  try {
    const warn = (text: string): void => io.err(`${text}\n`);
    await repairLocalFleet({ dir, env, clock, signal, warn, onStep: () => undefined });
    return NO_ERRORS;
  } catch (error) {
    if (signal.aborted) return NO_ERRORS;
    io.err(`${describeError(error).text}\n`);
    return backOffAfterError(errors, { atMs: clock.monotonicMs(), random: systemRandom() }, RETRY);
  }
}

const RETRY = { firstMs: POLL_MS, longestMs: 60_000, stableMs: 300_000 };

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
