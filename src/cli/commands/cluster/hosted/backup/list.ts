/** `kubenode cluster backup list`: the backups of a hosted cluster, on this machine or in the hub, also after its Cluster was deleted. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { clusterNameReason } from '../../../../../api/validation/cluster-name.ts';
import {
  backupsFolder,
  listBackups,
  type StoredBackup,
} from '../../../../../controllers/hosting/drivers/etcd/backup/store.ts';
import { isKubeError } from '../../../../../kube/client/errors.ts';
import { messageOf } from '../../../../../os/errors.ts';
import { formatAge } from '../../../../../views/text/age.ts';
import type { Table } from '../../../../../views/text/table.ts';
import { addConnectionOptions, type ConnectionFlags, connectFrom } from '../../../../connection.ts';
import { CliError, describeError, EXIT } from '../../../../errors.ts';
import { hostingFolder } from '../../../../hosting/folder.ts';
import type { Io } from '../../../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../../../output.ts';
import { type ClaimBackups, claimTable, readClaimBackups } from './claim.ts';

const HELP = `
Backups of driver process are in the folder of the control planes. They are listed on the machine that hosts the cluster, as the user of
"kubenode hosting", without the hub. Where that folder has none, or the hub is selected with --context or --kubeconfig, those of driver workload
are listed: hosting has their names in PersistentVolumeClaim etcd-backups. With --dir the hub is not asked. The newest backup is the last one. A
backup has every Secret of the cluster, and none of its keys. Create a Cluster of the same name with spec.hosted.etcd.restoreFrom to start
from one.

Examples:
  kubenode cluster backup list ci
  kubenode cluster backup list ci --context hub
  kubenode cluster backup list ci -o json`;

interface ListFlags extends ConnectionFlags {
  readonly dir?: string;
  readonly output: OutputFormat;
}

export interface BackupView {
  readonly name: string;
  readonly takenAt: string;
  /** The version of Kubernetes. */
  readonly version?: string;
  readonly etcdVersion: string;
  readonly revision: number;
  readonly keys: number;
  readonly bytes?: number;
}

export function createBackupListCommand(io: Io): Command {
  const command = new Command('list')
    .description('list the backups of a hosted cluster')
    .argument('<hosted-cluster>', 'name of the Cluster')
    .option(
      '--dir <folder>',
      `folder of the control planes, as kubenode hosting has it (default: ${hostingFolder(io)})`,
    )
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (name: string, flags: ListFlags) => {
    const folder = backupsFolder(resolve(io.cwd, flags.dir ?? hostingFolder(io)), checkedName(name));
    const backups = isHubSelected(flags) ? [] : (await listBackups(folder)).map(backupView);
    const shown = { cluster: name, now: io.clock.now() };
    if (backups.length === 0 && flags.dir === undefined) {
      const found = await readHub(io, flags, { name, folder });
      return printResult(io, flags.output, found, () => claimTable(found, shown));
    }
    printResult(io, flags.output, { folder, backups }, () => backupTable(backups, { ...shown, folder }));
  });
}

function isHubSelected({ dir, context, kubeconfig }: ListFlags): boolean {
  return dir === undefined && (context ?? kubeconfig) !== undefined;
}

interface EmptyFolder {
  readonly name: string;
  readonly folder: string;
}

async function readHub(io: Io, flags: ListFlags, place: EmptyFolder): Promise<ClaimBackups> {
  const unanswered = (error: unknown): never => {
    throw isHubSelected(flags) ? error : hubError(error, place);
  };
  const client = await connectFrom(io, flags).catch(unanswered);
  try {
    return await readClaimBackups(client, { ...place, signal: io.signal }, unanswered);
  } finally {
    await client.close();
  }
}

/** The hub was not selected by a flag, so the error has what was found without it, too. */
export function hubError(error: unknown, { name, folder }: EmptyFolder): unknown {
  if (isKubeError(error, 'Aborted')) return error;
  const what = `Cluster ${name} has no backup in ${folder}, and the hub cannot be asked`;
  return new CliError(`${what}: ${messageOf(error)}`, {
    hint: 'select the hub with --context or --kubeconfig, or list the backups on this machine only with --dir FOLDER',
    exitCode: describeError(error).exitCode,
    cause: error,
  });
}

/** The name is part of a path. */
function checkedName(name: string): string {
  const hint = clusterNameReason(name);
  if (hint === undefined) return name;
  throw new CliError(`${JSON.stringify(name)} cannot be the name of a Cluster`, {
    hint,
    exitCode: EXIT.usage,
  });
}

export function backupView({ name, record }: StoredBackup): BackupView {
  const { takenAt, kubernetesVersion: version, etcdVersion, revision, keys, bytes } = record;
  return {
    name,
    takenAt,
    ...(version === undefined ? {} : { version }),
    etcdVersion,
    revision,
    keys,
    ...(bytes === undefined ? {} : { bytes }),
  };
}

export function backupTable(
  backups: readonly BackupView[],
  { cluster, folder, now }: { readonly cluster: string; readonly folder: string; readonly now: Date },
): Table {
  return {
    columns: ['name', 'age', 'version', 'etcd', 'keys', 'size'],
    rows: backups.map(({ name, takenAt, version = '-', etcdVersion, keys, bytes }) => [
      name,
      formatAge(takenAt, now),
      version,
      etcdVersion,
      String(keys),
      bytes === undefined ? '-' : `${Math.ceil(bytes / 1e6)} MB`,
    ]),
    empty: `Cluster ${cluster} has no backup in ${folder}`,
  };
}
