/** `kubenode local`: control planes on this machine, to try things out and to develop against. */
import { isIP } from 'node:net';
import { Command, InvalidArgumentError } from 'commander';
import { bringUp, type Fleet, takeDown } from '../../../local/fleet.ts';
import { stateFolder } from '../../../local/folders.ts';
import { type FleetStatus, statusOf } from '../../../local/status.ts';
import { EXIT } from '../../errors.ts';
import { endWith } from '../../exit.ts';
import type { Io } from '../../io.ts';
import { type Format, outputOption, print, type Table } from '../../output.ts';
import { type Progress, withProgress } from '../../progress.ts';
import { withLocalErrors } from './errors.ts';
import { withDir } from './folder.ts';
import { installAll } from './install.ts';
import { kubeconfigCommand } from './kubeconfig.ts';

const UP_HELP = `
Starts one etcd, and an API server, a controller manager and a scheduler for each cluster. The first cluster is the hub.
The clusters go on running after this command; run it again to heal, to add clusters, or to renew certificates. A cluster
that got its kinds from this kubenode before is not looked through again: kubenode install does that.

The programs come from --kube-assets or $KUBEBUILDER_ASSETS, else from the cache, else from the official release
(checksums verified), else they are built when Go is installed. $KUBENODE_KUBE_DOWNLOADS and $KUBENODE_ETCD_DOWNLOADS
name mirrors of https://dl.k8s.io/release and https://github.com/etcd-io/etcd/releases/download.

Examples:
  kubenode local up                       one cluster: the hub
  kubenode local up --clusters 4          hub, test, pre and prod
  export KUBECONFIG=$(kubenode local kubeconfig --merged --path)`;

export function localCommand(io: Io): Command {
  return new Command('local')
    .description('clusters on this machine: real control planes without nodes')
    .addCommand(upCommand(io))
    .addCommand(statusCommand(io))
    .addCommand(kubeconfigCommand(io))
    .addCommand(downCommand(io));
}

interface UpFlags {
  readonly clusters?: number;
  readonly dir: string;
  readonly install: boolean;
  readonly controllers?: boolean;
  readonly bindAddress?: string;
  readonly serverName?: readonly string[];
  readonly port?: number;
  readonly timeout?: number;
  readonly kubeAssets?: string;
  readonly output: Format;
}

function upCommand(io: Io): Command {
  return withDir(io, new Command('up'))
    .description('start clusters, or bring them back to how they should be')
    .option('--clusters <n>', 'how many there should be; those that are there stay', wholeNumber(1, 100))
    .option('--no-install', 'leave out kinds, roles and policies of kubenode')
    .option('--controllers', 'run controller manager and scheduler (default for new clusters)')
    .option('--no-controllers', 'run API servers only')
    .option(
      '--bind-address <ip>',
      'where API servers listen; 0.0.0.0 lets other machines in (default: 127.0.0.1)',
      ipAddress,
    )
    .option('--server-name <name...>', 'more names and addresses for the certificates of the API servers')
    .option(
      '--port <n>',
      'port of the first new API server; the others get the next ones',
      wholeNumber(1, 65_535),
    )
    .option(
      '--timeout <seconds>',
      'how long a process may take to become ready (default: 120)',
      wholeNumber(1, 3600),
    )
    .option('--kube-assets <dir>', 'folder with etcd, kube-apiserver, … (default: $KUBEBUILDER_ASSETS)')
    .addOption(outputOption())
    .addHelpText('after', UP_HELP)
    .action((flags: UpFlags) => withLocalErrors(() => up(io, flags)));
}

/** Prepares a fleet as `local up` does; `start` uses it as well. */
export async function bringUpAndInstall(io: Io, flags: UpFlags, progress: Progress): Promise<Fleet> {
  const options = {
    dir: flags.dir,
    env: io.env,
    clock: io.clock,
    signal: io.signal,
    tell: (step: string) => progress.step(step),
    warn: (text: string) => io.err(`${text}\n`),
    clusters: flags.clusters,
    controllers: flags.controllers,
    bindAddress: flags.bindAddress,
    names: flags.serverName,
    firstPort: flags.port,
    assets: flags.kubeAssets,
    timeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
  };
  return await bringUp(options, async (fleet) => {
    if (flags.install) await installAll(io, fleet, progress);
    return fleet;
  });
}

async function up(io: Io, flags: UpFlags): Promise<void> {
  const { layout } = await withProgress(io, (progress) => bringUpAndInstall(io, flags, progress));
  await showStatus(io, flags);
  if (flags.output !== 'table') return;
  const where = flags.dir === stateFolder(io.env) ? '' : ` --dir ${flags.dir}`;
  io.err(`
A context for each cluster, the hub first:
  export KUBECONFIG=${layout.kubeconfig}
  kubectl get crd
Stop them with: kubenode local down${where}        (with --wipe their data goes too)
`);
}

function statusCommand(io: Io): Command {
  return withDir(io, new Command('status'))
    .description('show the clusters and their processes; ends with 1 unless all of them are ready')
    .addOption(outputOption())
    .action((flags: { dir: string; output: Format }) => withLocalErrors(() => showStatus(io, flags)));
}

async function showStatus(io: Io, flags: { readonly dir: string; readonly output: Format }): Promise<void> {
  const status = (await statusOf(flags.dir, io.clock.now())) ?? { folder: flags.dir, clusters: [] };
  print(io, flags.output, status, () => tableOf(status));
  const ready = status.clusters.length > 0 && status.clusters.every(({ state }) => state === 'Ready');
  if (!ready) endWith(io, EXIT.failed);
}

function tableOf({ folder, clusters }: Pick<FleetStatus, 'folder' | 'clusters'>): Table {
  return {
    columns: ['name', 'state', 'server', 'processes', 'because'],
    rows: clusters.map(({ name, state, server, processes, because }) => {
      const ready = processes.filter((process) => process.state === 'Ready').length;
      return [name, state, server, `${ready}/${processes.length}`, because];
    }),
    empty: `no local clusters in ${folder}; start them with: kubenode local up`,
  };
}

function downCommand(io: Io): Command {
  return withDir(io, new Command('down'))
    .description('stop the clusters; `up` brings them back with their data')
    .option('--wipe', 'remove data, keys and logs as well')
    .action((flags: { dir: string; wipe?: true }) => withLocalErrors(() => down(io, flags)));
}

async function down(io: Io, flags: { readonly dir: string; readonly wipe?: true }): Promise<void> {
  const wipe = flags.wipe === true;
  const found = await withProgress(io, (progress) =>
    takeDown({
      dir: flags.dir,
      clock: io.clock,
      signal: io.signal,
      tell: (step) => progress.step(step),
      wipe,
    }),
  );
  if (!found) io.err(`no local clusters in ${flags.dir}\n`);
  else io.err(wipe ? `stopped and removed: ${flags.dir}\n` : `stopped; the data stay in ${flags.dir}\n`);
}

function ipAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new InvalidArgumentError('Wanted is an IP address.');
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Wanted is a whole number from ${least} to ${most}.`);
  };
}
