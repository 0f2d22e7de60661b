/** Runs `kubenode hosting backup`: the programs in the pods that take, test and restore backups of the etcd of a control plane of driver `workload`. */
import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { formatBackupList } from '../../../controllers/hosting/drivers/etcd/backup/list.ts';
import {
  checkBackup,
  copyBackup,
  copyForBackup,
  keepBackup,
  placeBackup,
} from '../../../controllers/hosting/drivers/etcd/backup/steps.ts';
import { drillText } from '../../../controllers/hosting/drivers/etcd/drill/check.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Io } from '../../io.ts';
import { createIntegerParser } from '../../option-parsers.ts';

const HELP = `
Hosting starts them in a Job, with an etcd between two of them that opens the copy. A backup is taken by copy and keep, tested by open and
count, and restored by open and place. A person never has to run them.`;

interface Flags {
  readonly folder: string;
  readonly pki: string;
  readonly url: string;
  readonly cluster: string;
  readonly report: string;
}

interface CopyFlags extends Flags {
  readonly data: string;
  readonly etcdVersion: string;
  readonly kubernetesVersion: string;
  readonly request?: string;
}

type KeepFlags = Flags & { readonly keep: number };
type OpenFlags = Omit<CopyFlags, 'data'> & {
  readonly from: string;
  readonly into: string;
  readonly data?: string;
  readonly servePki?: string;
};
type OpenedFlags = Flags & { readonly from: string; readonly into: string };
type CheckFlags = OpenedFlags & { readonly servePki: string; readonly serveUrl: string };
type PlaceFlags = OpenedFlags & {
  readonly data: string;
  readonly peerUrl: string;
  readonly etcdVersion: string;
};

export function createBackupStepsCommand(io: Io): Command {
  return new Command('backup')
    .description('take, test and restore backups of the etcd of a control plane of pods; hosting runs it')
    .addCommand(createCopyCommand(io))
    .addCommand(createKeepCommand(io))
    .addCommand(createOpenCommand(io))
    .addCommand(createCheckCommand(io))
    .addCommand(createPlaceCommand(io))
    .addHelpText('after', HELP);
}

function createCopyCommand(io: Io): Command {
  const command = new Command('copy').description('copy the data of an etcd while it serves');
  return withEtcd(withVersions(withCluster(command)))
    .requiredOption('--data <folder>', 'data folder of the etcd')
    .option('--request <text>', 'request of a person that the backup answers')
    .action(async (flags: CopyFlags) => {
      const { data, cluster, etcdVersion, kubernetesVersion, request } = flags;
      const about = { cluster, kubernetesVersion, ...optional('request', request) };
      const { clock, signal } = io;
      const tools = { clock, etcdVersion, signal };
      const { keys } = await copyForBackup({ ...placeOf(flags), dataFolder: data, about }, tools);
      io.out(`copied ${keys} keys\n`);
    });
}

function createKeepCommand(io: Io): Command {
  const command = new Command('keep').description('make a backup of the copy if an etcd has opened it');
  return withEtcd(withCluster(command))
    .requiredOption('--keep <n>', 'how many backups stay', createIntegerParser(1, 100))
    .requiredOption('--report <file>', 'file for the list of backups')
    .action(async (flags: KeepFlags) => {
      const backups = await keepBackup(placeOf(flags), flags.keep, io);
      await writeFile(flags.report, formatBackupList(backups));
      io.out(`${backups.names.length} backups are kept\n`);
    });
}

function createOpenCommand(io: Io): Command {
  const command = new Command('open').description('copy a backup for an etcd that opens it');
  return withBackup(withVersions(withCluster(command)))
    .option('--data <folder>', 'data folder of the etcd that is restored; fails if it has other data')
    .option('--serve-pki <folder>', 'folder for the keys of an API server that serves the copy')
    .action(async (flags: OpenFlags) => {
      const { folder, from, into, data, cluster, kubernetesVersion: kubernetes, etcdVersion: etcd } = flags;
      const target = { cluster, kubernetes, etcd };
      const request = { folder, from, into, dataFolder: data, serverPki: flags.servePki, target };
      io.out(`copied ${await copyBackup(request, io)}\n`);
    });
}

function createCheckCommand(io: Io): Command {
  const command = new Command('check').description(
    'fail unless the etcd has every key of the backup, and the API server reads every object',
  );
  return withEtcd(withBackup(withCluster(command)))
    .requiredOption('--serve-pki <folder>', 'folder with the keys of the API server')
    .requiredOption('--serve-url <url>', 'URL of the API server to ask')
    .requiredOption('--report <file>', 'file for what was read')
    .action(async (flags: CheckFlags) => {
      const server = { url: flags.serveUrl, pkiFolder: flags.servePki };
      const check = await checkBackup({ ...flags, ...placeOf(flags), server }, io);
      await writeFile(flags.report, JSON.stringify(check));
      io.out(`${drillText(check)}\n`);
    });
}

function createPlaceCommand(io: Io): Command {
  const command = new Command('place').description(
    'start a control plane from the backup that an etcd opened',
  );
  return withEtcd(withBackup(withCluster(command)))
    .requiredOption('--data <folder>', 'data folder of the first member of etcd')
    .requiredOption('--peer-url <url>', 'URL at which other members find it')
    .requiredOption('--etcd-version <version>', 'version of the etcd')
    .requiredOption('--report <file>', 'file for the name of the backup')
    .action(async (flags: PlaceFlags) => {
      const onPlaced = (name: string): Promise<void> => writeFile(flags.report, name);
      const request = { ...flags, ...placeOf(flags), dataFolder: flags.data, onPlaced };
      const name = await placeBackup(request, io);
      io.out(`etcd starts from ${name}\n`);
    });
}

function withCluster(command: Command): Command {
  return command
    .requiredOption('--folder <folder>', 'folder of the backups')
    .requiredOption('--cluster <name>', 'name of the Cluster');
}

function withEtcd(command: Command): Command {
  return command
    .requiredOption('--pki <folder>', 'folder with ca.crt and client.pem')
    .requiredOption('--url <url>', 'URL of the etcd to ask');
}

function withVersions(command: Command): Command {
  return command
    .requiredOption('--etcd-version <version>', 'version of the etcd')
    .requiredOption('--kubernetes-version <version>', 'version of the API server');
}

function withBackup(command: Command): Command {
  return command
    .requiredOption('--from <name>', 'name of a backup, or latest')
    .requiredOption('--into <folder>', 'folder for the copy that the etcd opens');
}

function placeOf({ folder, pki, url }: Flags): {
  readonly folder: string;
  readonly pkiFolder: string;
  readonly url: string;
} {
  return { folder, pkiFolder: pki, url };
}
