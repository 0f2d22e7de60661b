/** `kubenode start`, also `npm start`: a local hub in the foreground, to look at and to develop against. */
import { Command } from 'commander';
import { takeDown } from '../../local/fleet.ts';
import { type FleetStatus, statusOf } from '../../local/status.ts';
import type { Io } from '../io.ts';
import { withProgress } from '../progress.ts';
import { withLocalErrors } from './local/errors.ts';
import { withDir } from './local/folder.ts';
import { bringUpAndInstall } from './local/local.ts';

const HELP = `
Brings up the local hub (see: kubenode local up) with all kinds of kubenode, prints how to reach it, and reports
each change of its state until Ctrl-C. Clusters that ran before go on running; what this command started, it stops.
The data stay; "kubenode local down --wipe" removes them.`;

const LOOK_EVERY_MS = 2000;

export function startCommand(io: Io): Command {
  return withDir(io, new Command('start'))
    .description('run a local hub in the foreground, until Ctrl-C')
    .addHelpText('after', HELP)
    .action((flags: { dir: string }) => withLocalErrors(() => start(io, flags.dir)));
}

async function start(io: Io, dir: string): Promise<void> {
  const ranBefore = isUp(await statusOf(dir, io.clock.now()));
  try {
    const { layout } = await withProgress(io, (progress) =>
      bringUpAndInstall(io, { dir, install: true, output: 'table' }, progress),
    );
    io.out(`
The hub is up, with the kinds of kubenode. In another terminal:
  export KUBECONFIG=${layout.kubeconfig}
  kubectl get crd
Ctrl-C ${ranBefore ? 'ends this report; the clusters go on running' : 'stops it'}.

`);
    await watch(io, dir);
  } finally {
    if (!ranBefore) await stop(io, dir);
  }
}

function isUp(status: FleetStatus | undefined): boolean {
  return status?.clusters.some(({ state }) => state !== 'Stopped') ?? false;
}

/** A line for each change, so that the log of a service manager reads as well as a terminal. */
async function watch(io: Io, dir: string): Promise<void> {
  let before = '';
  while (!io.signal.aborted) {
    const text = linesOf(await statusOf(dir, io.clock.now()));
    if (text !== before) io.out(`${io.clock.now().toISOString()}\n${text}`);
    before = text;
    await io.clock.sleep(LOOK_EVERY_MS, io.signal).catch(() => undefined);
  }
}

function linesOf(status: FleetStatus | undefined): string {
  if (!status) return '  the clusters are gone: bring them back with kubenode local up\n';
  return status.clusters
    .map(({ name, state, server, because }) => `  ${name}  ${state}  ${server}  ${because}\n`)
    .join('');
}

/** Ctrl-C has already been said, so this must not listen to it; a second one ends the process at once. */
async function stop(io: Io, dir: string): Promise<void> {
  io.err('stopping\n');
  const signal = new AbortController().signal;
  await takeDown({ dir, clock: io.clock, signal, tell: () => undefined, wipe: false });
}
