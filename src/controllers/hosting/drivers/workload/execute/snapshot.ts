/**
 * Takes a snapshot of etcd by a Job beside it. A Job that a former process of hosting began is waited for: of an attempt that was interrupted
 * nothing is made twice, and two never write the same volume.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { type PollOptions, pollUntil } from '../../../../../os/poll.ts';
import { HostingError } from '../../../errors.ts';
import { ETCD_MEMBERS, type EtcdMember, type PlaneOwner } from '../../driver.ts';
import { addressesOf } from '../access.ts';
import { requireData } from '../data.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../hub.ts';
import { isPodReady, podsOfMember } from '../members/pods.ts';
import { etcdMembersOf, SNAPSHOT } from '../names.ts';
import { snapshotClaim, snapshotGiB } from '../objects/namespace.ts';
import { type WorkloadRecord, withSnapshot } from '../record.ts';
import { recordedRun } from '../runs.ts';
import { jobImages } from '../snapshot/containers.ts';
import { type SnapshotParts, snapshotJob } from '../snapshot/job.ts';
import type { SnapshotState } from '../snapshot/state.ts';
import { createJob, deleteJob, type NamedJob, readJob, readJobState } from './jobs.ts';
import { requireKeysOf } from './keys.ts';
import { memberNotPrepared, requireImage, type WorkloadParts } from './members.ts';
import { changeRecord } from './record.ts';
import { ensureClaim } from './volume.ts';

/** A small database is copied meanwhile. The Job is what remembers a larger one: no worker of the controller waits for it. */
const WAIT_MS = 5000;
/** A pod has ended by then, unless its node does not answer. */
const AWAY_MS = 30_000;
const POLL_MS = 500;

type SnapshotActParts = WorkloadParts & { readonly signal?: AbortSignal | undefined };

export async function takeWorkloadSnapshot(plane: PlaneOwner, parts: SnapshotActParts): Promise<void> {
  const { client, clock, signal } = parts;
  const found = await readHubPlane(client, plane, signal ? { signal } : {});
  requireOwnNamespace(found);
  const { record } = found;
  if (!record) throw memberNotPrepared(found, 'etcd');
  if (record.isDestroying) return;
  requireKeysOf(found, record);
  requireData(found, 'etcd');
  const storage = { storageGiB: snapshotGiB(record), storageClass: parts.images?.storageClass };
  await ensureClaim(found, snapshotClaim(found.owner, storage), parts);
  const place: JobPlace = { found, record, parts, deadlineMs: clock.monotonicMs() + WAIT_MS };
  await ensureJob(place);
  let state: SnapshotState = { type: 'Running' };
  const hasEnded = async (): Promise<boolean> => {
    state = await readJobState(namedJob(place));
    return state.type !== 'Running';
  };
  await pollUntil(hasEnded, pollOptions(place));
  await endWith(state, place);
}

/** A Job keeps the images that it was created with, also those that a person has replaced since because no node can pull them. */
async function deleteOutdated(place: JobPlace): Promise<void> {
  const { found, parts, record } = place;
  const job = parts.images && (await readJob(namedJob(place)));
  if (job && !isDeepStrictEqual(jobImages(job), jobImages(jobOf(found, record, parts)))) {
    await deleteJob(namedJob(place));
  }
}

interface JobPlace {
  readonly found: FoundPlane;
  readonly record: WorkloadRecord;
  readonly parts: SnapshotActParts;
  readonly deadlineMs: number;
}

function pollOptions({ parts: { clock, signal }, deadlineMs }: JobPlace): PollOptions {
  return { clock, everyMs: POLL_MS, deadlineMs, signal };
}

/** One that still runs is left for the next reconcile. */
async function endWith(state: SnapshotState, place: JobPlace): Promise<void> {
  const { found, parts } = place;
  if (state.type === 'Running') {
    throw stillRunning(found, `its container ${state.container ?? 'copy'} has not ended`);
  }
  if (state.type === 'Blocked') {
    await deleteOutdated(place);
    throw notTaken(found, state.problem);
  }
  if (state.type === 'Taken') {
    const { takenAt } = state;
    await changeRecord(parts.client, found.owner, (current) => withSnapshot(current, takenAt));
  }
  await deleteJob(namedJob(place));
  if (state.type === 'Failed') throw notTaken(found, state.problem);
}

/** Waits for the end of one that is being deleted, whose pod may still write. */
async function ensureJob(place: JobPlace): Promise<void> {
  const { found, parts, record } = place;
  const job = await readJob(namedJob(place));
  const deletedAt = job?.metadata.deletionTimestamp;
  if (job && deletedAt === undefined) return;
  if (deletedAt !== undefined) await waitUntilAway(place, deletedAt);
  await createJob(namedJob(place), jobOf(found, record, parts));
}

function namedJob({ found, parts }: Pick<JobPlace, 'found' | 'parts'>): NamedJob {
  return { ...parts, cluster: found.owner.name, name: SNAPSHOT };
}

async function waitUntilAway(place: JobPlace, deletedAt: string): Promise<void> {
  const { found, parts } = place;
  const isAway = async (): Promise<boolean> => (await readJob(namedJob(place))) === undefined;
  if (await pollUntil(isAway, pollOptions(place))) return;
  const isLate = +parts.clock.now() - Date.parse(deletedAt) >= AWAY_MS;
  const text = 'the one before is still being deleted';
  throw isLate ? notTaken(found, `Job ${SNAPSHOT}: ${text}`) : stillRunning(found, text);
}

function jobOf(found: FoundPlane, record: WorkloadRecord, parts: WorkloadParts): KubeObject {
  return snapshotJob(copyParts(found, record, parts));
}

/** Returns what a Job copies an etcd with that serves: its member, its image, and that of kubenode. */
export function copyParts(found: FoundPlane, record: WorkloadRecord, parts: WorkloadParts): SnapshotParts {
  const { images, clock } = parts;
  const addresses = addressesOf(found);
  if (!images || !addresses) throw memberNotPrepared(found, 'etcd');
  const member = copiedMember(found);
  return {
    cluster: record.cluster,
    member,
    address: addresses.etcd[ETCD_MEMBERS.indexOf(member)] ?? '',
    takenAt: clock.now(),
    images: {
      etcd: record.members[member]?.image ?? requireImage(found, record, { ...parts, member }),
      kubenode: images.kubenode,
    },
    versions: versionsOf(record, member),
    priorityClass: images.priorityClass,
  };
}

function versionsOf(record: WorkloadRecord, member: EtcdMember): SnapshotParts['versions'] {
  const kubernetes = recordedRun(record, 'kube-apiserver')?.version ?? record.version;
  return { etcd: recordedRun(record, member)?.version ?? 'unknown', kubernetes };
}

/** The gate before the step holds until every member answers, and counts for the majority. */
function copiedMember({ objects, record }: FoundPlane): EtcdMember {
  const answers = (member: EtcdMember): boolean => podsOfMember(objects, member).some(isPodReady);
  return etcdMembersOf(record).find(answers) ?? 'etcd';
}

function stillRunning({ where }: Pick<FoundPlane, 'where'>, state: string): HostingError {
  return new HostingError('SnapshotRunning', `Job ${SNAPSHOT} takes a snapshot of etcd: ${state}`, { where });
}

function notTaken({ where }: Pick<FoundPlane, 'where'>, problem: string): HostingError {
  return new HostingError('SnapshotInvalid', `no valid snapshot of etcd: ${problem}`, {
    where,
    hint: `look at Job ${SNAPSHOT}; where its volume is too small or cannot be mounted, delete PersistentVolumeClaim ${SNAPSHOT}: hosting creates it again. Nothing was changed, and hosting tries again`,
  });
}
