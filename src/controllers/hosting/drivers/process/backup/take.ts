/** Takes a backup of the etcd of a control plane while it serves, and removes the oldest ones. Callers hold the lock of its backups. */
import { join } from 'node:path';
import { optional } from '../../../../../kube/objects/optional.ts';
import { ensurePrivateFolder, freeBytesOf } from '../../../../../os/files.ts';
import type { BackupOptions } from '../../driver.ts';
import { beyondKeep, inTheWay } from '../../etcd/backup/retention.ts';
import { listBackups, nextBackupName, removeBackup, removeLeftovers } from '../../etcd/backup/store.ts';
import { snapshotSpace } from '../../etcd/snapshot.ts';
import {
  type ControlledTools,
  type EtcdTools,
  type OpenPlane,
  requireKept,
  snapshotParts,
} from '../plane.ts';
import { takeSnapshot } from '../snapshot.ts';
import { BACKUP_FILE, recordAttempt } from './attempt.ts';

export interface BackupPlace {
  /** The folder with the backups of this Cluster. */
  readonly folder: string;
  readonly options: BackupOptions;
}

export async function takeBackup(
  plane: OpenPlane,
  place: BackupPlace,
  tools: ControlledTools,
): Promise<void> {
  requireKept(plane);
  const path = join(plane.layout.root, BACKUP_FILE);
  const { clock, control } = tools;
  await recordAttempt(path, clock.now(), () => takeNext(plane, place, tools), control.signal);
}

/** A new backup counts before an old one goes, unless the disk has no room for both. */
async function takeNext(plane: OpenPlane, { folder, options }: BackupPlace, tools: EtcdTools): Promise<void> {
  const { source, tools: programs } = await snapshotParts(plane, tools);
  await ensurePrivateFolder(folder);
  await removeLeftovers(folder);
  await makeRoom(folder, await snapshotSpace(source), tools);
  const name = await nextBackupName(folder, tools.clock.now());
  const about = { ...source.about, ...optional('request', options.request) };
  await takeSnapshot({ ...source, about }, join(folder, name), programs);
  for (const old of beyondKeep(await listBackups(folder), options.keep)) await removeBackup(folder, old);
}

async function makeRoom(
  folder: string,
  neededBytes: number,
  { freeBytes = freeBytesOf }: Pick<EtcdTools, 'freeBytes'>,
): Promise<void> {
  const found = { freeBytes: await freeBytes(folder), neededBytes };
  for (const old of inTheWay(await listBackups(folder), found)) await removeBackup(folder, old);
}
