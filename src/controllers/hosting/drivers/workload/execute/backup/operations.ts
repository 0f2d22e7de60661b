/** Takes and tests backups of an etcd of pods, each by a Job in the namespace of the control plane. */
import { messageOf, OsError } from '../../../../../../os/errors.ts';
import { HostingError } from '../../../../errors.ts';
import type { BackupOperations, PlaneOwner, UpkeepControl } from '../../../driver.ts';
import { type BackupJobParts, backupJob, drillJob } from '../../backup/job.ts';
import { reportPodBackups } from '../../backup/report.ts';
import { requireData } from '../../data.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../../hub.ts';
import { BACKUPS } from '../../names.ts';
import { backupsClaim } from '../../objects/namespace.ts';
import type { UpkeepKind } from '../../record.ts';
import { recordWorkloadAttempt } from '../attempt.ts';
import { memberNotPrepared, type WorkloadParts } from '../members.ts';
import { requireKeysOf } from '../prepare.ts';
import { copyParts } from '../snapshot.ts';
import { ensureClaim, requireBackupClass } from '../volume.ts';
import { restorePods } from './restore.ts';
import { runTask, type TaskRun } from './task.ts';

export function createPodBackups(parts: () => Promise<WorkloadParts>): BackupOperations {
  return {
    take: async (plane, options, control) => {
      const opened = { ...(await parts()), control };
      await upkeep(plane, 'backup', opened, (shared) => backupJob(shared, options));
    },
    drill: async (plane, control) => {
      const opened = { ...(await parts()), control };
      const found = await readHubPlane(opened.client, plane);
      if (reportPodBackups(found)?.backups.length === 0) return;
      await upkeep(plane, 'drill', opened, drillJob);
    },
    restore: async (plane, from) => restorePods(plane, from, await parts()),
  };
}

type UpkeepParts = WorkloadParts & { readonly control: UpkeepControl };

async function upkeep(
  plane: PlaneOwner,
  kind: Extract<UpkeepKind, 'backup' | 'drill'>,
  parts: UpkeepParts,
  jobFrom: (shared: BackupJobParts) => ReturnType<TaskRun['build']>,
): Promise<void> {
  const { client, clock, control, images } = parts;
  const found = await readHubPlane(client, plane);
  requireOwnNamespace(found);
  const { record } = found;
  if (!record || record.isDestroying) throw memberNotPrepared(found, 'etcd');
  requireKeysOf(found, record);
  requireData(found, 'etcd');
  const { signal } = control;
  await recordWorkloadAttempt({ client, clock, plane, kind, signal }, async () => {
    const storageClass = requireBackupClass(found, images);
    const claim = await ensureClaim(found, backupsClaim(found.owner, record, storageClass), parts);
    const job = { client, clock, cluster: plane.name, name: BACKUPS };
    const build: TaskRun['build'] = () => jobFrom({ ...copyParts(found, record, parts), claim });
    await withWords(found, kind, () => runTask({ job, control, build }));
  });
}

async function withWords(
  { where }: FoundPlane,
  kind: 'backup' | 'drill',
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof OsError || !(error instanceof Error) || error.name === 'AbortError') throw error;
    const [code, what] = WORDS[kind];
    throw new HostingError(code, `${what}: ${messageOf(error)}`, {
      where,
      hint: `look at Job and PersistentVolumeClaim ${BACKUPS}; hosting tries again`,
      cause: error,
    });
  }
}

const WORDS = {
  backup: ['SnapshotInvalid', 'no backup was taken'],
  drill: ['DrillFailed', 'the newest backup was not restored'],
} as const;
