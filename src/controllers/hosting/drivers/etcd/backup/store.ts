/**
 * The backups of the etcd of a control plane: a folder for each, in `backups/<cluster>` beside the folder of the control plane, which they
 * outlive. A name begins with a number, so that the order does not depend on a clock. A Cluster finds only the backups of its own name: they
 * have every Secret of a cluster.
 */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { byCode } from '../../../../../kube/objects/digest.ts';
import { systemCode } from '../../../../../os/errors.ts';
import { toDiskError } from '../../../../../os/files.ts';
import { readSnapshot, type SnapshotRecord } from '../snapshot.ts';

export interface StoredBackup {
  readonly name: string;
  readonly record: SnapshotRecord;
}

const NAME = /^(?<number>\d{6})-\d{8}T\d{6}Z$/;
/** A backup that is being removed does not count any more. */
const REMOVED = '.removed';
const LEFT = /\.(tmp|removed)$/;

export function backupsFolder(dir: string, cluster: string): string {
  return join(dir, 'backups', cluster);
}

/** Lists the complete backups, oldest first. */
export async function listBackups(folder: string): Promise<readonly StoredBackup[]> {
  const names = (await namesIn(folder)).filter((name) => NAME.test(name)).toSorted(byCode);
  const found = await Promise.all(
    names.map(async (name) => ({ name, record: await readSnapshot(join(folder, name)) })),
  );
  return found.flatMap(({ name, record }) => (record ? [{ name, record }] : []));
}

/** Returns a name that no backup has had, and that comes after all others. One that is damaged counts, too. */
export async function nextBackupName(folder: string, now: Date): Promise<string> {
  const numbers = (await namesIn(folder)).map((name) => Number(NAME.exec(name)?.groups?.['number'] ?? 0));
  const number = Math.max(0, ...numbers) + 1;
  const time = now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:]/g, '');
  return `${String(number).padStart(6, '0')}-${time}`;
}

/** After a crash in the middle, nothing that is left looks like a backup. */
export async function removeBackup(folder: string, name: string): Promise<void> {
  const path = join(folder, name);
  try {
    await rename(path, `${path}${REMOVED}`);
    await rm(`${path}${REMOVED}`, { recursive: true, force: true });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw toDiskError(error, path);
  }
}

/** Removes what a crash left in the middle of a backup or of a removal. Callers hold the lock of the backups. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of (await namesIn(folder)).filter(
    (each) => LEFT.test(each) && NAME.test(each.replace(LEFT, '')),
  )) {
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw toDiskError(error, folder);
  }
}
