/** `kubenode cluster backup list`: the backups of a hosted cluster on this machine, also after its Cluster was deleted. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { clusterNameReason } from '../../../../../api/validation/cluster-name.ts';
import {
  backupsFolder,
  listBackups,
  type StoredBackup,
} from '../../../../../controllers/hosting/drivers/etcd/backup/store.ts';
import { formatAge } from '../../../../../views/text/age.ts';
import type { Table } from '../../../../../views/text/table.ts';
import { CliError, EXIT } from '../../../../errors.ts';
import { hostingFolder } from '../../../../hosting/folder.ts';
import type { Io } from '../../../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../../../output.ts';

const HELP = `
Runs on the machine that hosts the cluster, as the user of "kubenode hosting", and needs no hub. Those of driver workload are in the hub:
the annotation kubenode.dev/backups of PersistentVolumeClaim etcd-backups has their names. The newest backup is the last one. A backup has
every Secret of the cluster, and none of its keys. Create a Cluster of the same name with spec.hosted.etcd.restoreFrom to start from one.

Examples:
  kubenode cluster backup list ci
  kubenode cluster backup list ci -o json`;

interface ListFlags {
  readonly dir: string;
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
  return new Command('list')
    .description('list the backups of a hosted cluster')
    .argument('<hosted-cluster>', 'name of the Cluster')
    .option('--dir <folder>', 'folder of the control planes, as kubenode hosting has it', hostingFolder(io))
    .addOption(createOutputOption())
    .addHelpText('after', HELP)
    .action(async (name: string, { dir, output }: ListFlags) => {
      const folder = backupsFolder(resolve(io.cwd, dir), checkedName(name));
      const backups = (await listBackups(folder)).map(backupView);
      const now = io.clock.now();
      printResult(io, output, { folder, backups }, () =>
        backupTable(backups, { cluster: name, folder, now }),
      );
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
