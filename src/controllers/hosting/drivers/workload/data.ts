/** Judges whether the volumes of etcd have the data of the control plane. Pure. */
import { textAt } from '../../../../kube/objects/json.ts';
import { HostingError } from '../../errors.ts';
import { planeData } from '../data.ts';
import { type DataState, type EtcdMember, isEtcdMember, type PlaneMember } from '../driver.ts';
import { claimOfVolume, type FoundPlane } from './hub.ts';
import { currentPod, isPodReady, lastWords, podsOfMember } from './members/pods.ts';
import { ANNOTATION_OWNER_UID, etcdMembersOf, KEEP_VOLUME, planeNamespace } from './names.ts';
import { wasStarted } from './record.ts';

/**
 * An etcd prints this that has had data, finds none, and looks for other members of which it could get them. Where a version prints something
 * else, it ends all the same, and its log is shown.
 */
const WITHOUT_DATA = 'cannot fetch cluster info from peer urls';

/** Returns whose data etcd has: of several members the majority decides. */
export function volumeData(found: FoundPlane): DataState {
  return planeData(etcdMembersOf(found.record).map((member) => memberVolumeData(found, member)));
}

/** Returns whose data a member of etcd has. One that was started has data, until its volume is missing or was emptied. */
export function memberVolumeData(found: FoundPlane, member: EtcdMember): DataState {
  const claim = claimOfVolume(found, member);
  if (!claim) return 'Empty';
  if (claim.metadata.annotations?.[ANNOTATION_OWNER_UID] !== found.owner.uid) return 'Other';
  const isEmpty = textAt(claim, 'status', 'phase') === 'Lost' || isLost(found, member);
  return !isEmpty && wasStarted(found.record, member) ? 'Own' : 'Empty';
}

function isLost(found: FoundPlane, member: EtcdMember): boolean {
  return isWiped(found, member) || isRecordedLost(found, member);
}

/** A person may have restored the volume since, behind another claim. A hosting that recorded no claim meant the one that is there. */
function isRecordedLost(found: FoundPlane, member: EtcdMember): boolean {
  const { isLost: wasLost, lostClaim } = found.record?.members[member] ?? {};
  return wasLost === true && [undefined, claimOfVolume(found, member)?.metadata.uid].includes(lostClaim);
}

/** Tells whether somebody emptied the volume behind its claim. */
export function isWiped({ objects, record }: FoundPlane, member: EtcdMember): boolean {
  const pod = currentPod(podsOfMember(objects, member));
  if (record?.isSealed !== true || !pod || isPodReady(pod)) return false;
  // One that joins finds others, or waits for them.
  if (record.members[member]?.initialCluster !== undefined) return false;
  return lastWords(pod)?.includes(WITHOUT_DATA) === true;
}

/** Throws where etcd would begin on the data of others, or without the data that it had. */
export function requireData(found: FoundPlane, member: PlaneMember): void {
  const members = etcdMembersOf(found.record);
  const other = members.find((each) => memberVolumeData(found, each) === 'Other');
  if (other !== undefined) throw dataNotOurs(found, other);
  const missing = members.filter((each) => isVolumeMissing(found, each));
  const [first] = missing;
  if (first === undefined) return;
  const isMajority = missing.length * 2 >= members.length;
  if (isMajority || (isEtcdMember(member) && missing.includes(member))) throw dataMissing(found, first);
}

function isVolumeMissing(found: FoundPlane, member: EtcdMember): boolean {
  return !claimOfVolume(found, member) && wasStarted(found.record, member);
}

function claimText({ owner }: FoundPlane, member: EtcdMember): string {
  return `PersistentVolumeClaim ${planeNamespace(owner.name)}/${member}`;
}

function dataNotOurs(found: FoundPlane, member: EtcdMember): HostingError {
  const claim = claimText(found, member);
  return new HostingError(
    'DataNotOurs',
    `${claim} has the data of another control plane, or of one that is not known`,
    {
      where: found.where,
      hint: `restore the data of this control plane; or ${KEEP_VOLUME}, then delete the Cluster and create it again`,
    },
  );
}

function dataMissing(found: FoundPlane, member: EtcdMember): HostingError {
  const { where, owner } = found;
  return new HostingError('DataMissing', `${claimText(found, member)} is missing, and etcd had data in it`, {
    where,
    hint: `restore it from a snapshot of its volume, with the annotation ${ANNOTATION_OWNER_UID}: ${owner.uid}; or ${KEEP_VOLUME}, then delete the Cluster and create it again`,
  });
}
