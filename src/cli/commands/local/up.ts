import { Command } from 'commander';
import { type LocalFleet, READY_MS } from '../../../local/fleet.ts';
import { stateFolder } from '../../../local/folders.ts';
import { namedProcesses, readLocalFleetStatus } from '../../../local/status.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { addDirOption } from '../../local/dir-option.ts';
import { withLocalErrors } from '../../local/errors.ts';
import { startLocalClusters, type UpFlags } from '../../local/start-clusters.ts';
import { createIntegerParser, parseIpAddress } from '../../option-parsers.ts';
import { createOutputOption } from '../../output.ts';
import { type StepProgress, withProgress } from '../../progress.ts';
import { shellWord } from '../../runnable.ts';
import { awaitReady, readStatus, showLocalStatus } from './status.ts';

const HELP = `
Starts one etcd, and an API server, a controller manager and a scheduler for each cluster. The first cluster is the hub.
The clusters keep running after this command. Run it again to restart stopped processes, to add clusters or to renew
certificates. It skips clusters that this version of kubenode already installed into: to check them, use kubenode install.

The programs come from --kube-assets or $KUBEBUILDER_ASSETS, else from the cache, else from the official release
(checksums verified), else they are built if Go is installed. To download from a mirror, set $KUBENODE_KUBE_DOWNLOADS
(instead of https://dl.k8s.io/release) and $KUBENODE_ETCD_DOWNLOADS (instead of
https://github.com/etcd-io/etcd/releases/download).

Examples:
  kubenode local up                       one cluster: the hub
  kubenode local up --clusters 4          hub, test, pre and prod
  export KUBECONFIG=$(kubenode local kubeconfig --merged --path)`;

export function createUpCommand(io: Io): Command {
  return addDirOption(io, new Command('up'))
    .description('start clusters, add clusters, or restart what stopped')
    .option('--clusters <n>', 'number of clusters; existing clusters are kept', createIntegerParser(1, 100))
    .option('--no-install', 'do not install the kinds, roles and policies of kubenode')
    .option('--controllers', 'run controller manager and scheduler (default for new clusters)')
    .option('--no-controllers', 'run API servers only')
    .option(
      '--bind-address <ip>',
      'address for API servers to listen on; 0.0.0.0 allows other machines (default: 127.0.0.1)',
      parseIpAddress,
    )
    .option('--server-name <name...>', 'additional names and addresses in the certificates of API servers')
    .option(
      '--port <n>',
      'port of the first new API server; the others use the following ports',
      createIntegerParser(1, 65_535),
    )
    .option(
      '--timeout <seconds>',
      'how long a process can take to become ready (default: 120)',
      createIntegerParser(1, 3600),
    )
    .option('--kube-assets <dir>', 'folder with etcd, kube-apiserver, … (default: $KUBEBUILDER_ASSETS)')
    .addOption(createOutputOption())
    .addHelpText('after', HELP)
    .action((flags: UpFlags) => withLocalErrors(() => up(io, flags)));
}

async function up(io: Io, flags: UpFlags): Promise<void> {
  const dirOption = flags.dir === stateFolder(io.env) ? '' : ` --dir ${flags.dir}`;
  const { layout } = await startOrExplain(io, flags, dirOption);
  await showLocalStatus(io, flags);
  if (flags.output !== 'table') return;
  io.err(`
To use the clusters, with one context for each (the hub is the default):
  export KUBECONFIG=${shellWord(layout.kubeconfig)}
  kubectl get crd
To stop them: kubenode local down${dirOption}        (--wipe also deletes their data)
`);
}

/** Ctrl-C stops the process that is starting; those that are ready keep running, as after a complete `up`. */
async function startOrExplain(io: Io, flags: UpFlags, dirOption: string): Promise<LocalFleet> {
  try {
    return await withProgress(io, async (progress) => {
      const fleet = await startLocalClusters(io, flags, progress);
      await waitForAnswers(io, flags, progress);
      return fleet;
    });
  } catch (error) {
    if (!io.signal.aborted) throw error;
    const status = await readLocalFleetStatus(flags.dir, io.clock.now());
    const running = status ? namedProcesses(status).filter(({ state }) => state !== 'Stopped') : [];
    const names = running.map(({ id }) => id);
    throw interruptedError(names, dirOption, error);
  }
}

async function waitForAnswers(io: Io, flags: UpFlags, progress: StepProgress): Promise<void> {
  const { clock, signal } = io;
  await awaitReady({
    read: () => readStatus(io, flags),
    onStep: (step) => progress.step(step),
    clock,
    everyMs: 500,
    deadlineMs: clock.monotonicMs() + (flags.timeout === undefined ? READY_MS : flags.timeout * 1000),
    signal,
  });
}

function interruptedError(running: readonly string[], dirOption: string, cause: unknown): CliError {
  const left = running.length === 0 ? 'no process is running' : `still running: ${running.join(', ')}`;
  const stop = running.length === 0 ? '' : `; to stop them: kubenode local down${dirOption}`;
  return new CliError(`interrupted; ${left}`, {
    where: 'local up',
    hint: `complete the start with: kubenode local up${dirOption}${stop}`,
    exitCode: EXIT.interrupted,
    cause,
  });
}
