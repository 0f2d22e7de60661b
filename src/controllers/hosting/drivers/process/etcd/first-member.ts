/** Turns the data of a backup into those of an etcd with one member, which others can join. */
import { etcdPeerUrl } from '../../../../../local/processes/commands.ts';
import type { ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import { changePeerUrl, readMemberList } from '../../etcd/member-list.ts';
import { copyData, type SnapshotRecord, verifyKeys } from '../../etcd/snapshot.ts';
import { type CopyParts, openCopy } from './open-copy.ts';

export interface FirstMemberFolders {
  readonly from: string;
  /** It is changed by an etcd that does not wait for the disk. */
  readonly opened: string;
  /** It has all data on the disk. */
  readonly to: string;
  /** The port for peers of the first member. Undefined: etcd has one member. */
  readonly peerPort: number | undefined;
}

/**
 * Rejects unless an etcd that starts from the data, and forgets all other members of the one that it was taken from, has the keys of that
 * state. Its members are called by the ports of that control plane, so the first one gets its own.
 */
export async function copyAsFirstMember(
  { from, opened, to, peerPort }: FirstMemberFolders,
  taken: SnapshotRecord,
  parts: CopyParts,
): Promise<void> {
  await copyData(from, opened);
  await openCopy(opened, parts, async (endpoint) => {
    await verifyKeys(endpoint, taken);
    if (peerPort !== undefined) await setPeerPort(endpoint, peerPort);
  });
  await copyData(opened, to);
}

async function setPeerPort(endpoint: ProbeEndpoint, peerPort: number): Promise<void> {
  for (const { ID } of await readMemberList(endpoint)) {
    await changePeerUrl(endpoint, ID, etcdPeerUrl(peerPort));
  }
}
