/**
 * Builds the Jobs that write the volume of backups, or read it: one takes a backup, one opens the newest for a test, and one starts an etcd without
 * data from one. All have the same name, so that the hub never runs two of them at once. Pure.
 */
import { ANNOTATION_BACKUP_REQUEST } from '../../../../../api/names.ts';
import { digestOf } from '../../../../../kube/objects/digest.ts';
import { textAt } from '../../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { BackupOptions } from '../../driver.ts';
import { SNAPSHOT_COPY } from '../../etcd/snapshot-steps.ts';
import { ANNOTATION_CLAIM, ANNOTATION_RUN, ANNOTATION_TAKEN_AT, ANNOTATION_TASK, BACKUPS } from '../names.ts';
import { ETCD_VOLUME_FOLDER } from '../objects/commands.ts';
import {
  etcdJob,
  type JobImages,
  MOUNTS,
  OPENED_URL,
  openingContainer,
  ownContainer,
  placeArgs,
  SNAPSHOT_FOLDER,
} from '../snapshot/containers.ts';
import { copyArgs, READ_ONLY_DATA, type SnapshotParts } from '../snapshot/job.ts';

import {
  DRILL_MOUNT,
  DRILL_VOLUME,
  type DrillServer,
  drillServerContainer,
  KEYS_ARG,
  SERVER_ARGS,
} from './drill-server.ts';

export const BACKUP_TASKS = ['Backup', 'Drill', 'Restore'] as const;
export type BackupTask = (typeof BACKUP_TASKS)[number];

/** The file that becomes the message of the container, which hosting reads. */
const REPORT = '/dev/termination-log';
/** Beside the data of the first member, so that these get their place by a rename. */
const RESTORED_COPY = `${ETCD_VOLUME_FOLDER}/restore`;

export function backupJob(parts: BackupJobParts, { keep, request }: BackupOptions): KubeObject {
  const { cluster, member, images } = parts;
  // The hub expands $(NAME) and $$ in arguments.
  const asked = request === undefined ? [] : [`--request=${request.replaceAll('$', '$$$$')}`];
  const end = [`--keep=${keep}`, `--report=${REPORT}`, `--cluster=${cluster}`, ...placeArgs(OPENED_URL)];
  return taskJob(parts, {
    task: 'Backup',
    options: [keep, request ?? ''],
    request,
    beside: member,
    containers: [
      ownContainer('copy', images, {
        args: ['backup', ...copyArgs(parts), ...asked],
        mounts: [MOUNTS.client, READ_ONLY_DATA, MOUNTS.snapshots],
      }),
      openingContainer(images, { dataFolder: COPY, mount: MOUNTS.snapshots }),
      ownContainer('keep', images, {
        args: ['backup', 'keep', ...end],
        mounts: [MOUNTS.client, MOUNTS.snapshots],
      }),
    ],
    data: { claimName: member, readOnly: true },
  });
}

const COPY = `${SNAPSHOT_FOLDER}/${SNAPSHOT_COPY}`;

type TaskParts = Pick<SnapshotParts, 'cluster' | 'takenAt' | 'images' | 'versions' | 'priorityClass'> & {
  /** The UID of the claim whose volume it writes. */
  readonly claim: string;
};
export type BackupJobParts = SnapshotParts & TaskParts;

/** It needs neither the etcd that serves nor its volume. */
export function drillJob(parts: TaskParts, server: DrillServer): KubeObject {
  const { images, cluster } = parts;
  const source = sourceArgs(parts, { from: 'latest', into: COPY });
  return taskJob(parts, {
    task: 'Drill',
    options: [server],
    containers: [
      ownContainer('open', images, {
        args: ['backup', 'open', ...source, ...versionArgs(parts), FOLDER_ARG, KEYS_ARG],
        mounts: [MOUNTS.snapshots, DRILL_MOUNT],
      }),
      openingContainer(images, { dataFolder: COPY, mount: MOUNTS.snapshots }),
      drillServerContainer(cluster, server),
      ownContainer('check', images, {
        args: ['backup', 'check', ...source, ...placeArgs(OPENED_URL), ...SERVER_ARGS, `--report=${REPORT}`],
        mounts: [MOUNTS.client, MOUNTS.snapshots, DRILL_MOUNT],
      }),
    ],
    data: undefined,
    volumes: [DRILL_VOLUME],
  });
}

export interface RestoreChoice {
  /** The name of a backup, or `latest`. */
  readonly from: string;
  /** The URL at which other members find the first one. */
  readonly peerUrl: string;
}

/** No container of it can write the backups. */
export function restoreJob(parts: TaskParts, { from, peerUrl }: RestoreChoice): KubeObject {
  const { images, versions } = parts;
  const source = sourceArgs(parts, { from, into: RESTORED_COPY });
  const backups = { ...MOUNTS.snapshots, readOnly: true };
  const data = `--data=${ETCD_VOLUME_FOLDER}/data`;
  const target = [data, `--peer-url=${peerUrl}`, `--etcd-version=${versions.etcd}`, `--report=${REPORT}`];
  return taskJob(parts, {
    task: 'Restore',
    options: [from],
    containers: [
      ownContainer('open', images, {
        args: ['backup', 'open', ...source, ...versionArgs(parts), FOLDER_ARG, data],
        mounts: [MOUNTS.data, backups],
      }),
      openingContainer(images, { dataFolder: RESTORED_COPY, mount: MOUNTS.data }),
      ownContainer('place', images, {
        args: ['backup', 'place', ...source, ...target, ...placeArgs(OPENED_URL)],
        mounts: [MOUNTS.client, MOUNTS.data, backups],
      }),
    ],
    data: { claimName: 'etcd' },
  });
}

const FOLDER_ARG = `--folder=${SNAPSHOT_FOLDER}`;

function sourceArgs(
  { cluster }: TaskParts,
  { from, into }: { readonly from: string; readonly into: string },
): readonly string[] {
  return [`--cluster=${cluster}`, `--from=${from}`, `--into=${into}`];
}

function versionArgs({ versions }: TaskParts): readonly string[] {
  return [`--etcd-version=${versions.etcd}`, `--kubernetes-version=${versions.kubernetes}`];
}

type Chosen = Pick<Parameters<typeof etcdJob>[0], 'beside' | 'containers' | 'data' | 'volumes'>;

interface TaskChoice {
  readonly task: BackupTask;
  readonly options: readonly unknown[];
  readonly request?: string | undefined;
}

function taskJob(
  { cluster, takenAt, images, versions, priorityClass, claim }: TaskParts,
  { task, options, request, ...chosen }: Chosen & TaskChoice,
): KubeObject {
  return etcdJob({
    cluster,
    name: BACKUPS,
    annotations: {
      [ANNOTATION_TASK]: task,
      [ANNOTATION_TAKEN_AT]: takenAt.toISOString(),
      [ANNOTATION_RUN]: optionsDigest({ task, options: [claim, ...options], images, versions }),
      [ANNOTATION_CLAIM]: claim,
      ...optional(ANNOTATION_BACKUP_REQUEST, request),
    },
    priorityClass,
    snapshots: BACKUPS,
    ...chosen,
  });
}

/** The member that is copied is not part of it: another one is as good. */
function optionsDigest(options: {
  readonly task: BackupTask;
  readonly options: readonly unknown[];
  readonly images: JobImages;
  readonly versions: SnapshotParts['versions'];
}): string {
  return digestOf(options);
}

/** Tells whether both were created for the same, so that one can be waited for instead of the other. */
export function isSameTask(one: KubeObject, other: KubeObject): boolean {
  const run = one.metadata.annotations?.[ANNOTATION_RUN];
  return run !== undefined && run === other.metadata.annotations?.[ANNOTATION_RUN];
}

/** Undefined: somebody else made it, or edited it. */
export function taskOf(job: KubeObject): BackupTask | undefined {
  const task = textAt(job, 'metadata', 'annotations', ANNOTATION_TASK);
  return BACKUP_TASKS.find((each) => each === task);
}

/** Tells whether what the Job has written is in the volume of that claim. */
export function isOnClaim(job: KubeObject, claim: string | undefined): boolean {
  return claim !== undefined && job.metadata.annotations?.[ANNOTATION_CLAIM] === claim;
}
