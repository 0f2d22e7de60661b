/** Decides whether a backup can be restored into a control plane. Pure. */
import { minorsBetween } from '../../../plan/upgrade/versions.ts';
import type { ProgramVersions } from '../../driver.ts';
import type { SnapshotRecord } from '../snapshot.ts';

export interface RestoreTarget extends ProgramVersions {
  readonly cluster: string;
}

/** Returns why not, with what to do. The keys of a cluster have its name in front, so another one would not find them. */
export function unusableReason(
  { cluster, kubernetesVersion, etcdVersion, sha256 }: SnapshotRecord,
  target: RestoreTarget,
): readonly [problem: string, hint: string] | undefined {
  if (cluster === undefined || kubernetesVersion === undefined || sha256 === undefined) {
    return ['its record is not that of a backup', 'name another backup'];
  }
  if (cluster !== target.cluster) {
    return [`it is of Cluster ${cluster}`, `create a Cluster of the name ${cluster}, or name another backup`];
  }
  const hint = `set spec.hosted.version to ${kubernetesVersion}, and start hosting with the programs of that version`;
  if (!isNear(kubernetesVersion, target.kubernetes)) {
    return [`it is of ${kubernetesVersion}, and ${target.kubernetes} cannot start from it`, hint];
  }
  if (isNear(etcdVersion, target.etcd)) return undefined;
  return [`it is of etcd ${etcdVersion}, and etcd ${target.etcd} cannot start from it`, hint];
}

/** Programs read the data of their own minor version and of the one before. */
function isNear(from: string, to: string): boolean {
  return [0, 1].includes(minorsBetween(from, to));
}
