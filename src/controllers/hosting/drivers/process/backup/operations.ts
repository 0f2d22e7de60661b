/** The operations of the driver on backups, and what it reports of them. */
import { join } from 'node:path';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { BackupOperations, BackupReport, PlaneOwner, UpkeepControl } from '../../driver.ts';
import { readRestored } from '../../etcd/backup/restored.ts';
import { backupsFolder, listBackups, type StoredBackup } from '../../etcd/backup/store.ts';
import type { PlaneFolder } from '../folder.ts';
import type { ControlledTools, EtcdTools, OpenPlane } from '../plane.ts';
import { BACKUP_FILE, DRILL_FILE, readAttempt } from './attempt.ts';
import { drillBackup } from './drill.ts';
import { restoreBackup } from './restore.ts';
import { takeBackup } from './take.ts';

export interface BackupParts {
  /** The folder of all control planes. */
  readonly dir: string;
  readonly locked: (plane: PlaneOwner, work: () => Promise<void>) => Promise<void>;
  /** Carries out what runs beside the other operations, and never twice at once for a control plane. */
  readonly upkeep: (plane: PlaneOwner, signal: AbortSignal, work: () => Promise<void>) => Promise<void>;
  readonly open: (plane: PlaneOwner) => Promise<OpenPlane>;
  readonly tools: () => EtcdTools;
  /** The memory of this machine that programs can have. */
  readonly availableBytes?: (() => Promise<number>) | undefined;
}

export function createBackups(parts: BackupParts): BackupOperations {
  const { dir, locked, upkeep, open, tools, availableBytes } = parts;
  const toolsFor = (control: UpkeepControl): ControlledTools => ({ ...tools(), control });
  const folderOf = ({ name }: PlaneOwner): string => backupsFolder(dir, name);
  return {
    take: (plane, options, control) =>
      upkeep(plane, control.signal, async () =>
        takeBackup(await open(plane), { folder: folderOf(plane), options }, toolsFor(control)),
      ),
    drill: (plane, control) =>
      upkeep(plane, control.signal, async () =>
        drillBackup(await open(plane), { dir, folder: folderOf(plane), availableBytes }, toolsFor(control)),
      ),
    restore: (plane, from) =>
      locked(plane, async () => restoreBackup(await open(plane), { folder: folderOf(plane), from }, tools())),
  };
}

/** Undefined where the control plane is not ours. */
export async function readBackups(
  { claim, record, layout }: PlaneFolder,
  dir: string,
): Promise<BackupReport | undefined> {
  if (claim !== 'Own' || !record) return undefined;
  const backups = await listBackups(backupsFolder(dir, record.cluster));
  return {
    backups: backups.map(reportOf),
    ...optional('attempt', await readAttempt(join(layout.root, BACKUP_FILE))),
    ...optional('drill', await readAttempt(join(layout.root, DRILL_FILE))),
    ...optional('restoredFrom', await readRestored(layout.etcd.dataFolder)),
  };
}

function reportOf({ name, record: { takenAt, request } }: StoredBackup): BackupReport['backups'][number] {
  return { name, takenAt: new Date(takenAt), ...optional('request', request) };
}
