/**
 * Starts the etcd of a new control plane from a backup, by a Job that writes the volume of its first member before that is started for the first
 * time. The record comes last: until then the volume counts as empty, and is written as a whole again.
 */
import { textAt } from '../../../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../../../kube/objects/object.ts';
import { pollUntil } from '../../../../../../os/poll.ts';
import { HostingError } from '../../../../errors.ts';
import type { PlaneOwner } from '../../../driver.ts';
import { isBackupName } from '../../../etcd/backup/list.ts';
import { isOnClaim, isSameTask, restoreJob, taskOf } from '../../backup/job.ts';
import { reportedBy } from '../../backup/report.ts';
import { isRestoreOver } from '../../backup/step.ts';
import { memberVolumeData, requireData } from '../../data.ts';
import { podPlaces } from '../../etcd/places.ts';
import { claimOfVolume, type FoundPlane, readHubPlane, requireOwnNamespace } from '../../hub.ts';
import { podsOfMember } from '../../members/pods.ts';
import { ANNOTATION_TAKEN_AT, BACKUPS, etcdMembersOf, KEEP_VOLUME } from '../../names.ts';
import { LOCAL_PEER_URL } from '../../objects/commands.ts';
import { backupsClaim, volumeClaim } from '../../objects/namespace.ts';
import { type WorkloadRecord, wasStarted, withoutRestored, withRestored } from '../../record.ts';
import { type SnapshotState, snapshotState } from '../../snapshot/state.ts';
import { createJob, deleteJob, type NamedJob, podsOfJob, readJob } from '../jobs.ts';
import { requireKeysOf } from '../keys.ts';
import { memberNotPrepared, requireImage, type WorkloadParts } from '../members.ts';
import { changeRecord } from '../record.ts';
import { copyParts } from '../snapshot.ts';
import { ensureClaim, requireBackupClass } from '../volume.ts';

/** No worker of the controller waits for a larger backup: the next reconcile finds the Job. */
const WAIT_MS = 5000;
const POLL_MS = 500;

interface RestorePlace {
  readonly found: FoundPlane;
  readonly record: WorkloadRecord;
  readonly parts: WorkloadParts;
  readonly job: NamedJob;
}

export async function restorePods(plane: PlaneOwner, from: string, parts: WorkloadParts): Promise<void> {
  const place = await openPlace(plane, parts);
  const { found, record } = place;
  if (record.isDestroying || memberVolumeData(found, 'etcd') === 'Own') return;
  if (!parts.images) throw memberNotPrepared(found, 'etcd');
  const storageClass = requireBackupClass(found, parts.images);
  requireStopped(found);
  const claim = await ensureVolumes(place, storageClass);
  const peerUrl = peerUrlOf(place);
  const desired = restoreJob({ ...copyParts(found, record, parts), claim }, { from, peerUrl });
  const job = await readJob(place.job);
  if (!job) await createJob(place.job, desired);
  else if (!isSameTask(job, desired)) await deleteJob(place.job);
  await finish(place);
}

/**
 * Ends a restore that is not asked for any more before the first member is started on its volume, whichever claims are left. What was put in its
 * place is the data of that member, and is recorded as that.
 */
export async function endRestore(plane: PlaneOwner, parts: WorkloadParts): Promise<void> {
  const found = await readHubPlane(parts.client, plane);
  // The start of the member rejects these, with the reason.
  if (found.claim !== 'Own' || !found.record) return;
  const { client, clock } = parts;
  const job = await readJob({ client, clock, cluster: plane.name, name: BACKUPS });
  if (!job || taskOf(job) !== 'Restore') return;
  const place = await openPlace(plane, parts);
  const isComplete = snapshotState(job, { pods: [], now: clock.now() }).type === 'Taken';
  if (await hasPlaced(place, job, isComplete)) await settle(place, job);
  else await deleteJob(place.job);
  // The pod of another one may still write.
  if (isComplete && isOnVolume(found, job)) return;
  throw inWork(found, 'the one that is not asked for any more is being deleted');
}

/** Tells whether its data are in place and not recorded yet. A pod that was ended right after that has reported the name of the backup. */
async function hasPlaced(place: RestorePlace, job: KubeObject, isComplete: boolean): Promise<boolean> {
  if (wasStarted(place.record, 'etcd') || !isOnVolume(place.found, job)) return false;
  return isComplete || isBackupName((await reportOf(place, job)) ?? '');
}

function isOnVolume(found: FoundPlane, job: KubeObject): boolean {
  return isOnClaim(job, claimOfVolume(found, 'etcd')?.metadata.uid);
}

async function reportOf(place: RestorePlace, job: KubeObject): Promise<string | undefined> {
  return reportedBy(await podsOfJob(place.job, job))?.trim();
}

async function openPlace(plane: PlaneOwner, parts: WorkloadParts): Promise<RestorePlace> {
  const { client, clock } = parts;
  const found = await readHubPlane(client, plane);
  requireOwnNamespace(found);
  const { record } = found;
  if (!record) throw memberNotPrepared(found, 'etcd');
  requireKeysOf(found, record);
  return { found, record, parts, job: { client, clock, cluster: plane.name, name: BACKUPS } };
}

/** Resolves to the UID of the claim of the first member. */
async function ensureVolumes({ found, record, parts }: RestorePlace, storageClass: string): Promise<string> {
  await ensureClaim(found, backupsClaim(found.owner, record, storageClass), parts);
  const { storageGiB } = record.placement;
  const volume = { storageGiB, storageClass: parts.images?.storageClass };
  // A claim that was lost before its etcd was ever started had nothing but the backup. The next one is empty, which the record has before it is there.
  if (!claimOfVolume(found, 'etcd')) await changeRecord(parts.client, found.owner, withoutRestored);
  return await ensureClaim(found, volumeClaim(found.owner, volume), parts);
}

function peerUrlOf({ found, record, parts }: RestorePlace): string {
  if (etcdMembersOf(record).length === 1) return LOCAL_PEER_URL;
  const [url] = podPlaces(found, parts.clock.now())?.peerUrls ?? [];
  if (url === undefined) throw memberNotPrepared(found, 'etcd');
  return url;
}

async function finish(place: RestorePlace): Promise<void> {
  const { clock } = place.parts;
  let [job, state]: [KubeObject | undefined, SnapshotState] = [undefined, { type: 'Running' }];
  const hasEnded = async (): Promise<boolean> => {
    job = await readJob(place.job);
    state = job ? await stateOf(place, job) : { type: 'Running' };
    return state.type !== 'Running';
  };
  await pollUntil(hasEnded, { clock, everyMs: POLL_MS, deadlineMs: clock.monotonicMs() + WAIT_MS });
  await endWith(place, state, job);
}

async function endWith(
  place: RestorePlace,
  state: SnapshotState,
  job: KubeObject | undefined,
): Promise<void> {
  const { found, parts } = place;
  if (state.type === 'Running') {
    throw inWork(found, `its container ${state.container ?? 'open'} has not ended`);
  }
  if (state.type === 'Taken') {
    if (job) await settle(place, job);
    return;
  }
  const createdAt = textAt(job, 'metadata', 'annotations', ANNOTATION_TAKEN_AT);
  if (isRestoreOver(state, createdAt, parts.clock.now())) await deleteJob(place.job);
  if (state.type === 'Blocked') throw notBegun(found, state.problem);
  throw notRestored(found, state.problem);
}

/** A Job that is being deleted has no state: its pod may still write. */
async function stateOf({ job: named }: RestorePlace, job: KubeObject): Promise<SnapshotState> {
  if (job.metadata.deletionTimestamp !== undefined) return { type: 'Running' };
  const pods = await podsOfJob(named, job);
  return snapshotState(job, { pods, now: named.clock.now() });
}

async function settle(place: RestorePlace, job: KubeObject): Promise<void> {
  const { found, record, parts } = place;
  const name = await reportOf(place, job);
  const image = requireImage(found, record, { ...parts, member: 'etcd' });
  await changeRecord(parts.client, found.owner, (current) => withRestored(current, { name, image }));
  await deleteJob(place.job);
}

function requireStopped(found: FoundPlane): void {
  requireNoOther(found);
  const running = etcdMembersOf(found.record).flatMap((member) => podsOfMember(found.objects, member));
  if (running.length === 0) return;
  throw new HostingError('NotStopped', 'etcd runs: its data is not replaced', {
    where: found.where,
    hint: `${KEEP_VOLUME}, then delete the Cluster and create it again with restoreFrom`,
  });
}

/** Data of others is not replaced. A claim that is missing is created again. */
function requireNoOther(found: FoundPlane): void {
  if (memberVolumeData(found, 'etcd') === 'Other') requireData(found, 'etcd');
}

function inWork({ where }: FoundPlane, state: string): HostingError {
  return new HostingError('RestoreRunning', `Job ${BACKUPS} restores a backup: ${state}`, { where });
}

function notBegun({ where }: FoundPlane, problem: string): HostingError {
  return new HostingError('RestoreBlocked', `the restore of a backup waits: ${problem}`, {
    where,
    hint: `look at the pod of Job ${BACKUPS}; there is nothing to delete, and it continues when that is fixed`,
  });
}

function notRestored({ where }: FoundPlane, problem: string): HostingError {
  return new HostingError('BackupUnusable', `no backup is restored: ${problem}`, {
    where,
    hint: `look at Job and PersistentVolumeClaim ${BACKUPS}; to name another backup, ${KEEP_VOLUME}, then delete the Cluster and create it again; or remove spec.hosted.etcd.restoreFrom to begin without data`,
  });
}
