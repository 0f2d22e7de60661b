/**
 * Restores the etcd of a new control plane from a backup. The data is complete and was opened before it takes the place of the empty folder by
 * a rename, so that a crash leaves either nothing or all of it. Callers hold the lock of the control plane.
 */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listProcesses } from '../../../../../local/processes/observe.ts';
import { messageOf, OsError } from '../../../../../os/errors.ts';
import { checkFreeSpace, ensurePrivateFolder } from '../../../../../os/files.ts';
import { HostingError } from '../../../errors.ts';
import { isEtcdMember } from '../../driver.ts';
import { backupUnusable, findBackup, type RestoreSource, requireRestorable } from '../../etcd/backup/find.ts';
import { markRestored } from '../../etcd/backup/restored.ts';
import type { StoredBackup } from '../../etcd/backup/store.ts';
import type { RestoreTarget } from '../../etcd/backup/usable.ts';
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

const MEMBER = 'member';
/** The backup is there twice: in the copy that is opened, and in the one that takes the place of the folder of etcd. */
const COPIES = 2;
const SPARE_BYTES = 200e6;

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
  const backup = await findBackup(source, nameOf(plane));
  const path = join(source.folder, backup.name);
  const programs = etcdPrograms(plane, tools);
  await requireRestorable(backup, source.folder, targetOf(plane, programs));
  const temporary = join(plane.layout.root, 'restore');
  await rm(temporary, { recursive: true, force: true });
  await ensurePrivateFolder(temporary);
  try {
    await checkFreeSpace(temporary, COPIES * (backup.record.bytes ?? 0) + SPARE_BYTES, tools.freeBytes);
    const copy = await openBackup(plane, { backup, path, temporary }, programs);
    await takePlace(plane, copy, backup.name);
  } catch (error) {
    throw error instanceof OsError ? error : backupUnusable(path, messageOf(error));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function nameOf({ record }: Pick<OpenPlane, 'record'>): string {
  return record?.cluster ?? '';
}

function targetOf({ record, settled }: OpenPlane, { etcdVersion }: SnapshotTools): RestoreTarget {
  return { cluster: nameOf({ record }), kubernetes: settled?.version ?? '', etcd: etcdVersion };
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
  await markRestored(copy, name);
  const target = join(layout.etcd.dataFolder, MEMBER);
  await rm(target, { recursive: true, force: true });
  await rename(join(copy, MEMBER), target);
}
