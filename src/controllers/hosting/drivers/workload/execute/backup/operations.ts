/** Takes and tests backups of an etcd of pods, each by a Job in the namespace of the control plane. */
import { messageOf, OsError } from '../../../../../../os/errors.ts';
import { HostingError } from '../../../../errors.ts';
import { API_SERVERS, type BackupOperations, type PlaneOwner, type UpkeepControl } from '../../../driver.ts';
import { parseDrillCheck } from '../../../etcd/drill/check.ts';
import type { DrillServer } from '../../backup/drill-server.ts';
import { type BackupJobParts, backupJob, drillJob } from '../../backup/job.ts';
import { reportPodBackups } from '../../backup/report.ts';
import { requireData } from '../../data.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../../hub.ts';
import { BACKUPS } from '../../names.ts';
import { backupsClaim } from '../../objects/namespace.ts';
import type { UpkeepKind, WorkloadRecord } from '../../record.ts';
import { recordedRun } from '../../runs.ts';
import { recordWorkloadAttempt } from '../attempt.ts';
import { requireKeysOf } from '../keys.ts';
import { memberNotPrepared, requireImage, type WorkloadParts } from '../members.ts';
import { copyParts } from '../snapshot.ts';
import { ensureClaim, requireBackupClass } from '../volume.ts';
import { restorePods } from './restore.ts';
import { runTask, type TaskRun } from './task.ts';

export function createPodBackups(parts: () => Promise<WorkloadParts>): BackupOperations {
  return {
    take: async (plane, options, control) => {
      const opened = { ...(await parts()), control };
      await upkeep(plane, opened, { kind: 'backup', build: (shared) => backupJob(shared, options) });
    },
    drill: async (plane, control) => {
      const opened = { ...(await parts()), control };
      const found = await readHubPlane(opened.client, plane);
      if (reportPodBackups(found)?.backups.length === 0) return;
      const build: Upkeep['build'] = (shared, record) => drillJob(shared, drillServer(found, record, opened));
      await upkeep(plane, opened, { kind: 'drill', build });
    },
    restore: async (plane, from) => restorePods(plane, from, await parts()),
  };
}

type UpkeepParts = WorkloadParts & { readonly control: UpkeepControl };

interface Upkeep {
  readonly kind: Extract<UpkeepKind, 'backup' | 'drill'>;
  readonly build: (shared: BackupJobParts, record: WorkloadRecord) => ReturnType<TaskRun['build']>;
}

/** Returns what the API server of a drill runs with: what that of the control plane runs with. */
function drillServer(found: FoundPlane, record: WorkloadRecord, parts: WorkloadParts): DrillServer {
  const member = API_SERVERS[0];
  return {
    image: record.members[member]?.image ?? requireImage(found, record, { ...parts, member }),
    flags: recordedRun(record, member)?.flags ?? {},
    serviceCIDR: record.settings.serviceCIDR,
  };
}

async function upkeep(
  plane: PlaneOwner,
  parts: UpkeepParts,
  { kind, build: jobFrom }: Upkeep,
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
    const build: TaskRun['build'] = () => jobFrom({ ...copyParts(found, record, parts), claim }, record);
    const report = await withWords(found, kind, () => runTask({ job, control, build }));
    return kind === 'drill' ? parseDrillCheck(report) : undefined;
  });
}

async function withWords<T>(
  { where }: FoundPlane,
  kind: 'backup' | 'drill',
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
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
