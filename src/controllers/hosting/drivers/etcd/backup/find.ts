/** Finds the backup that a control plane is to start from, and refuses one that it cannot start from. */
import { join } from 'node:path';
import { HostingError } from '../../../errors.ts';
import { describeFiles } from '../describe-files.ts';
import { snapshotData } from '../snapshot.ts';
import { listBackups, type StoredBackup } from './store.ts';
import { type RestoreTarget, unusableReason } from './usable.ts';

export interface RestoreSource {
  /** The folder with the backups of this Cluster. */
  readonly folder: string;
  /** The name of a backup, or `latest`. */
  readonly from: string;
}

const MAX_NAMES = 5;
const NAME_ANOTHER = 'delete the Cluster and create it again with another backup';
const WITHOUT = 'or remove spec.hosted.etcd.restoreFrom to begin without data';
/** Advises a person whose backups are in a volume of pods, which ends with the Cluster unless it is retained. */
export const IN_VOLUME: RestoreAdvice = {
  missing: `bind the volume with the backups to PersistentVolumeClaim etcd-backups, ${WITHOUT}`,
  another: `set the volume of claim etcd-backups to Retain (runbook etcd-backup), then ${NAME_ANOTHER}, ${WITHOUT}`,
};

export interface RestoreAdvice {
  readonly missing: string;
  readonly another: string;
}

/** `cluster` is the name of the Cluster. */
export async function findBackup(
  { folder, from }: RestoreSource,
  cluster: string,
  { missing, another }: Partial<RestoreAdvice> = {},
): Promise<StoredBackup> {
  const backups = await listBackups(folder);
  const found = from === 'latest' ? backups.at(-1) : backups.find(({ name }) => name === from);
  if (found) return found;
  const names = backups.map(({ name }) => name).slice(-MAX_NAMES);
  const which = from === 'latest' ? '' : ` ${from}`;
  throw new HostingError('BackupMissing', `Cluster ${cluster} has no backup${which}`, {
    where: folder,
    hint:
      names.length === 0
        ? (missing ?? `put it into ${folder}, ${WITHOUT}`)
        : `${another ?? 'create the Cluster again with another backup'}: ${names.join(', ')}`,
  });
}

/** Rejects a backup of another Cluster or version, and one whose files are not those that were written. */
export async function requireRestorable(
  { name, record }: StoredBackup,
  folder: string,
  target: RestoreTarget,
  { another }: Partial<RestoreAdvice> = {},
): Promise<void> {
  const path = join(folder, name);
  const reason = unusableReason(record, target);
  if (reason) throw backupUnusable(path, ...reason);
  const { sha256 } = await describeFiles(snapshotData(path)).catch(() => ({ sha256: undefined }));
  if (sha256 === record.sha256) return;
  throw backupUnusable(path, 'its files are not those that were written', another);
}

export function backupUnusable(where: string, problem: string, hint = NAME_ANOTHER): HostingError {
  return new HostingError('BackupUnusable', `the backup cannot be restored: ${problem}`, { where, hint });
}
