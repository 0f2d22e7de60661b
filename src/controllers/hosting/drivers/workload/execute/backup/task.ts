/**
 * Carries out a backup or a drill by a Job, beside the reconciles. A Job of a former process of hosting is waited for, and what it has achieved is
 * recorded before the next one begins: two never write the volume of backups.
 */
import { ANNOTATION_BACKUP_REQUEST } from '../../../../../../api/names.ts';
import type { KubeObject } from '../../../../../../kube/objects/object.ts';
import { optional } from '../../../../../../kube/objects/optional.ts';
import type { UpkeepControl } from '../../../driver.ts';
import { type BackupList, formatBackupList, parseBackupList } from '../../../etcd/backup/list.ts';
import { isOnClaim, isSameTask, taskOf } from '../../backup/job.ts';
import { reportedBy, stepOf } from '../../backup/report.ts';
import { backupStep, isTaskReplaced, stuckReason } from '../../backup/step.ts';
import { ANNOTATION_BACKUPS, ANNOTATION_TAKEN_AT, BACKUPS, planeNamespace } from '../../names.ts';
import { VOLUME_CLAIMS } from '../../objects/namespace.ts';
import { type SnapshotState, snapshotState } from '../../snapshot/state.ts';
import { createJob, deleteJob, type NamedJob, podsOfJob, readJob } from '../jobs.ts';
import { AS_HOSTING } from '../record.ts';

const POLL_MS = 1000;
/** A volume that is provisioned, or an image that is pulled again, may need that long. */
const BLOCKED_MS = 60_000;

export interface TaskRun {
  readonly job: NamedJob;
  readonly control: UpkeepControl;
  /** Creates the Job that is asked for. */
  readonly build: () => KubeObject;
}

/** Resolves to what its last container has reported. Rejects with what keeps the Job from its end, or why it failed. The signal ends the wait, and leaves the Job to the next attempt. */
export async function runTask(run: TaskRun): Promise<string> {
  const { job: named, control } = run;
  const isLate = createBlockedTimer(named.clock);
  for (;;) {
    control.signal.throwIfAborted();
    const job = await readJob(named);
    if (!job) await createJob(named, run.build());
    const report = job && (await reportFrom(run, job, isLate));
    if (report !== undefined) return report;
    await named.clock.sleep(POLL_MS, control.signal);
  }
}

/** Resolves to undefined unless the Job that was asked for has ended. */
async function reportFrom(
  run: TaskRun,
  job: KubeObject,
  isLate: (found: ObservedJob) => boolean,
): Promise<string | undefined> {
  const found = await observe(run.job, job);
  if (job.metadata.deletionTimestamp === undefined) return await reportOnceDone(run, found, isLate(found));
  requireDeletion(found);
  return undefined;
}

/** Tells whether what it is asked about has been blocked for long. */
function createBlockedTimer(clock: NamedJob['clock']): (found: ObservedJob) => boolean {
  let sinceMs: number | undefined;
  return ({ state, isStuck }) => {
    sinceMs = state.type === 'Blocked' ? (sinceMs ?? clock.monotonicMs()) : undefined;
    return isStuck || (sinceMs !== undefined && clock.monotonicMs() - sinceMs >= BLOCKED_MS);
  };
}

function requireDeletion({ isStuck, state }: ObservedJob): void {
  if (isStuck) throw new Error(problemOf(state));
}

interface ObservedJob {
  readonly job: KubeObject;
  readonly pods: readonly KubeObject[];
  readonly state: SnapshotState;
  /** Whether it never ends by itself. */
  readonly isStuck: boolean;
}

async function observe(named: NamedJob, job: KubeObject): Promise<ObservedJob> {
  const pods = await podsOfJob(named, job);
  const now = named.clock.now();
  const state = snapshotState(job, { pods, now });
  const problem = stuckReason(job, state, now);
  if (problem === undefined) return { job, pods, state, isStuck: false };
  return { job, pods, state: { type: 'Blocked', problem }, isStuck: true };
}

/** Rejects when the Job that was asked for has failed. Another one is only settled. */
async function reportOnceDone(
  { job: named, control, build }: TaskRun,
  found: ObservedJob,
  isLate: boolean,
): Promise<string | undefined> {
  const { state, job } = found;
  const desired = build();
  const isAsked = isSameTask(job, desired);
  const step = backupStep({
    state,
    isAsked,
    isReplaced: isTaskReplaced(taskOf(job), taskOf(desired)),
    isLate,
  });
  if (step === 'Wait') {
    if (isAsked) control.onStep(stepOf(state.type === 'Running' ? state.container : undefined));
    return undefined;
  }
  const problem = step === 'Settle' ? await settle(named, found) : problemOf(state);
  await deleteJob(named);
  if (!isAsked) return undefined;
  if (problem !== undefined) throw new Error(problem);
  return reportOf(found);
}

function reportOf({ pods }: ObservedJob): string {
  return reportedBy(pods) ?? '';
}

function problemOf(state: SnapshotState): string | undefined {
  return 'problem' in state ? state.problem : undefined;
}

/** The report is read before the Job is deleted. Resolves to why it has no result. */
async function settle(named: NamedJob, { job, pods }: ObservedJob): Promise<string | undefined> {
  const task = taskOf(job);
  if (task !== 'Backup') {
    return task === 'Drill' && reportedBy(pods) === undefined ? NOT_READ : undefined;
  }
  const list = parseBackupList(reportedBy(pods));
  if (!list) return NOT_READ;
  const { metadata } = await named.client.get(VOLUME_CLAIMS, placeOf(named));
  if (!isOnClaim(job, metadata.uid)) return `PersistentVolumeClaim ${BACKUPS} was replaced since`;
  await writeList(named, { names: list.names, ...askedFor(job) });
  return undefined;
}

const NOT_READ = 'its pod was removed before its report was read';

/** The clock of a node may be ahead, and a hub changes some characters of arguments: hosting wrote these two itself. */
function askedFor({ metadata: { annotations = {} } }: KubeObject): Omit<BackupList, 'names'> {
  const takenAt = annotations[ANNOTATION_TAKEN_AT] ?? '';
  return { takenAt, ...optional('request', annotations[ANNOTATION_BACKUP_REQUEST]) };
}

function placeOf({ cluster }: NamedJob): { readonly name: string; readonly namespace: string } {
  return { name: BACKUPS, namespace: planeNamespace(cluster) };
}

async function writeList(named: NamedJob, list: BackupList): Promise<void> {
  const body = { metadata: { annotations: { [ANNOTATION_BACKUPS]: formatBackupList(list) } } };
  await named.client.patch(VOLUME_CLAIMS, placeOf(named), { type: 'merge', body }, AS_HOSTING);
}
