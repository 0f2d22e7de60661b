/** Runs `kubenode hosting snapshot`: the programs in the pod that takes a snapshot of the etcd of a control plane of driver `workload`. */
import { Command } from 'commander';
import {
  acceptSnapshot,
  copyForCheck,
  type SnapshotPlace,
} from '../../../controllers/hosting/drivers/etcd/snapshot-steps.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Io } from '../../io.ts';

const HELP = `
Hosting starts both in a Job beside the etcd of a control plane of driver workload, before its version is changed: copy, then an etcd that
opens the copy, then verify. Without the second one the snapshot before stays. A person never has to run them.`;

interface Flags {
  readonly folder: string;
  readonly pki: string;
  readonly url: string;
}

interface CopyFlags extends Flags {
  readonly data: string;
  readonly etcdVersion: string;
  readonly cluster?: string;
  readonly kubernetesVersion?: string;
}

export function createSnapshotCommand(io: Io): Command {
  return new Command('snapshot')
    .description('take a snapshot of the etcd of a control plane of pods; hosting runs it')
    .addCommand(createCopyCommand(io))
    .addCommand(createVerifyCommand(io))
    .addHelpText('after', HELP);
}

function createCopyCommand(io: Io): Command {
  const command = new Command('copy')
    .description('copy the data of an etcd while it serves')
    .requiredOption('--data <folder>', 'data folder of the etcd')
    .requiredOption('--etcd-version <version>', 'version of the etcd')
    .option('--cluster <name>', 'name of the Cluster')
    .option('--kubernetes-version <version>', 'version of its API server');
  return addPlaceOptions(command).action((flags: CopyFlags) => copy(io, flags));
}

function createVerifyCommand(io: Io): Command {
  const command = new Command('verify').description(
    'accept the copy if an etcd that has opened it has every key',
  );
  return addPlaceOptions(command).action((flags: Flags) => verify(io, flags));
}

function addPlaceOptions(command: Command): Command {
  return command
    .requiredOption('--folder <folder>', 'folder of the snapshots')
    .requiredOption('--pki <folder>', 'folder with ca.crt and client.pem')
    .requiredOption('--url <url>', 'URL of the etcd to ask');
}

async function copy(io: Io, flags: CopyFlags): Promise<void> {
  const { data, etcdVersion, cluster, kubernetesVersion } = flags;
  const about = { ...optional('cluster', cluster), ...optional('kubernetesVersion', kubernetesVersion) };
  const { clock, signal } = io;
  const request = { ...placeOf(flags), dataFolder: data, about };
  const { keys, revision } = await copyForCheck(request, { clock, etcdVersion, signal });
  io.out(`copied ${keys} keys at revision ${revision}\n`);
}

async function verify(io: Io, flags: Flags): Promise<void> {
  const { clock, signal } = io;
  const { keys } = await acceptSnapshot(placeOf(flags), { clock, signal });
  io.out(`the snapshot was opened and has ${keys} keys\n`);
}

function placeOf({ folder, pki, url }: Flags): SnapshotPlace {
  return { folder, pkiFolder: pki, url };
}
