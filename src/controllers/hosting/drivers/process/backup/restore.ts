/**
 * Restores the etcd of a new control plane from a backup. The data is complete and was opened before it takes the place of the empty folder by
 * a rename, so that a crash leaves either nothing or all of it. Callers hold the lock of the control plane.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listProcesses } from '../../../../../local/processes/observe.ts';
import { messageOf, OsError } from '../../../../../os/errors.ts';
import {
  checkFreeSpace,
  ensurePrivateFolder,
  PRIVATE_MODE,
  readFileIfExists,
} from '../../../../../os/files.ts';
import { HostingError } from '../../../errors.ts';
import { isEtcdMember } from '../../driver.ts';
import { describeFiles } from '../../etcd/describe-files.ts';
import { snapshotData } from '../../etcd/snapshot.ts';
import { etcdEndpoints } from '../etcd/endpoint.ts';
import { copyAsFirstMember } from '../etcd/first-member.ts';
import { requireOwn } from '../folder.ts';
import { findMember } from '../members.ts';
import { type EtcdTools, etcdPrograms, type OpenPlane } from '../plane.ts';
import { memberStates } from '../preparation/complete.ts';
import { markData } from '../preparation/data.ts';
import { dataNotOurs, notPrepared } from '../preparation/refusals.ts';
import { type SnapshotTools } from '../snapshot.ts';
import { listBackups, type StoredBackup } from './store.ts';
import { unusableReason } from './usable.ts';

export interface RestoreSource {
  /** The folder with the backups of this Cluster. */
  readonly folder: string;
  /** The name of a backup, or `latest`. */
  readonly from: string;
}

const MEMBER = 'member';
/** It is beside the data, so that it is there with the data or not at all. */
const RESTORED_FILE = join(MEMBER, 'kubenode-restored');
/** The backup is there twice: in the copy that is opened, and in the one that takes the place of the folder of etcd. */
const COPIES = 2;
const SPARE_BYTES = 200e6;

/** Returns the backup that the data began with. */
export async function readRestored(dataFolder: string): Promise<string | undefined> {
  return (await readFileIfExists(join(dataFolder, RESTORED_FILE)))?.trim();
}

export async function restoreBackup(
  plane: OpenPlane,
  source: RestoreSource,
  tools: EtcdTools,
): Promise<void> {
  requireOwn(plane);
  const data = await memberStates(plane);
  if (data.includes('Other')) throw dataNotOurs(plane);
  if (data.includes('Own')) return;
  await requireStopped(plane);
  const backup = await findBackup(source, plane);
  const path = join(source.folder, backup.name);
  const programs = etcdPrograms(plane, tools);
  requireUsable(backup, path, plane, programs.etcdVersion);
  await requireUndamaged(backup, path);
  const temporary = join(plane.layout.root, 'restore');
  await rm(temporary, { recursive: true, force: true });
  await ensurePrivateFolder(temporary);
  try {
    await checkFreeSpace(temporary, COPIES * (backup.record.bytes ?? 0) + SPARE_BYTES, tools.freeBytes);
    const copy = await openBackup(plane, { backup, path, temporary }, programs);
    await takePlace(plane, copy, backup.name);
  } catch (error) {
    throw error instanceof OsError ? error : unusable(path, messageOf(error), NAME_ANOTHER);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

interface OpenBackup {
  readonly backup: StoredBackup;
  readonly path: string;
  readonly temporary: string;
}

/** Resolves to the folder with the data of the first member, which the others join later. */
async function openBackup(
  plane: OpenPlane,
  { backup, path, temporary }: OpenBackup,
  programs: SnapshotTools,
): Promise<string> {
  const { layout, state } = plane;
  const [endpoint] = await etcdEndpoints(plane);
  if (!endpoint) throw notPrepared(plane, 'etcd');
  const [opened, to] = [join(temporary, 'opened'), join(temporary, 'data')];
  await copyAsFirstMember(
    { from: snapshotData(path), opened, to, peerPort: state?.etcdMembers?.[0]?.peerPort },
    backup.record,
    { ...programs, pkiFolder: layout.etcd.pkiFolder, endpoint },
  );
  return to;
}

async function findBackup({ folder, from }: RestoreSource, { record }: OpenPlane): Promise<StoredBackup> {
  const backups = await listBackups(folder);
  const found = from === 'latest' ? backups.at(-1) : backups.find(({ name }) => name === from);
  if (found) return found;
  const names = backups.map(({ name }) => name).slice(-MAX_NAMES);
  const which = from === 'latest' ? '' : ` ${from}`;
  throw new HostingError('BackupMissing', `Cluster ${record?.cluster} has no backup${which}`, {
    where: folder,
    hint:
      names.length === 0
        ? `put it into ${folder}, or remove spec.hosted.etcd.restoreFrom to begin without data`
        : `create the Cluster again with one of these: ${names.join(', ')}`,
  });
}

const MAX_NAMES = 5;
const NAME_ANOTHER = 'delete the Cluster and create it again with another backup';

function requireUsable({ record }: StoredBackup, path: string, plane: OpenPlane, etcd: string): void {
  const { settled, record: owner } = plane;
  const target = { cluster: owner?.cluster ?? '', kubernetes: settled?.version ?? '', etcd };
  const reason = unusableReason(record, target);
  if (reason) throw unusable(path, ...reason);
}

async function requireUndamaged({ record }: StoredBackup, path: string): Promise<void> {
  const { sha256 } = await describeFiles(snapshotData(path)).catch(() => ({ sha256: undefined }));
  if (sha256 === record.sha256) return;
  throw unusable(path, 'its files are not those that were written', NAME_ANOTHER);
}

function unusable(where: string, problem: string, hint: string): HostingError {
  return new HostingError('BackupUnusable', `the backup cannot be restored: ${problem}`, { where, hint });
}

async function requireStopped({ specs, layout }: OpenPlane): Promise<void> {
  const processes = await listProcesses();
  const etcd = specs.filter(({ member }) => isEtcdMember(member));
  if (!etcd.some((spec) => findMember(spec, processes))) return;
  throw new HostingError('NotStopped', 'etcd runs: its data is not replaced', {
    where: layout.etcd.dataFolder,
    hint: 'delete the Cluster and create it again with restoreFrom',
  });
}

/** The owner and the name of the backup are part of the data before it is there. */
async function takePlace({ layout, record }: OpenPlane, copy: string, name: string): Promise<void> {
  await markData(copy, { uid: record?.uid ?? '', isMarked: false });
  await writeFile(join(copy, RESTORED_FILE), `${name}\n`, { mode: PRIVATE_MODE });
  const target = join(layout.etcd.dataFolder, MEMBER);
  await rm(target, { recursive: true, force: true });
  await rename(join(copy, MEMBER), target);
}
