/**
 * Builds the Job that takes a snapshot of etcd before an upgrade. Its pod copies the data on the node of etcd, opens the copy with the etcd that
 * runs, and counts its keys; only then the Job succeeds. Pure.
 */
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import type { EtcdMember } from '../../driver.ts';
import { SNAPSHOT_COPY } from '../../etcd/snapshot-steps.ts';
import { ANNOTATION_TAKEN_AT, SNAPSHOT } from '../names.ts';
import { ETCD_VOLUME_FOLDER } from '../objects/commands.ts';
import { ETCD_PORT, urlOf } from '../ports.ts';
import {
  etcdJob,
  type JobImages,
  MOUNTS,
  OPENED_URL,
  openingContainer,
  ownContainer,
  placeArgs,
  SNAPSHOT_FOLDER,
} from './containers.ts';

export interface SnapshotParts {
  readonly cluster: string;
  /** The member of etcd that is copied, and its address. */
  readonly member: EtcdMember;
  readonly address: string;
  readonly takenAt: Date;
  readonly images: JobImages;
  readonly versions: { readonly etcd: string; readonly kubernetes: string };
  readonly priorityClass: string;
}

export function snapshotJob(parts: SnapshotParts): KubeObject {
  const { cluster, member, takenAt, images, priorityClass } = parts;
  const verify = ['snapshot', 'verify', ...placeArgs(OPENED_URL)];
  return etcdJob({
    cluster,
    name: SNAPSHOT,
    annotations: { [ANNOTATION_TAKEN_AT]: takenAt.toISOString() },
    priorityClass,
    beside: member,
    containers: [
      ownContainer('copy', images, {
        args: ['snapshot', ...copyArgs(parts)],
        mounts: [MOUNTS.client, READ_ONLY_DATA, MOUNTS.snapshots],
      }),
      openingContainer(images, {
        dataFolder: `${SNAPSHOT_FOLDER}/${SNAPSHOT_COPY}`,
        mount: MOUNTS.snapshots,
      }),
      ownContainer('verify', images, { args: verify, mounts: [MOUNTS.client, MOUNTS.snapshots] }),
    ],
    // Read only, so that nothing about the volume of the etcd that serves is changed.
    data: { claimName: member, readOnly: true },
    snapshots: SNAPSHOT,
  });
}

export const READ_ONLY_DATA = { ...MOUNTS.data, readOnly: true };

/** Returns how a container copies the member that serves. */
export function copyArgs({ cluster, address, versions }: SnapshotParts): readonly string[] {
  return [
    'copy',
    `--data=${ETCD_VOLUME_FOLDER}/data`,
    `--cluster=${cluster}`,
    `--etcd-version=${versions.etcd}`,
    `--kubernetes-version=${versions.kubernetes}`,
    ...placeArgs(urlOf(address, ETCD_PORT)),
  ];
}
