/** Judges whether the volume of etcd has the data of the control plane. Pure. */
import { textAt } from '../../../../kube/objects/json.ts';
import { HostingError } from '../../errors.ts';
import type { DataState } from '../driver.ts';
import { claimOfVolume, type FoundPlane } from './hub.ts';
import { currentPod, isPodReady, lastWords, podsOfMember } from './members/pods.ts';
import { ANNOTATION_OWNER_UID, planeNamespace, VOLUME } from './names.ts';
import { startsOf } from './record.ts';

/**
 * An etcd prints this that has had data, finds none, and looks for other members of which it could get them. Where a version prints something
 * else, it ends all the same, and its log is shown.
 */
const WITHOUT_DATA = 'cannot fetch cluster info from peer urls';

export function volumeData(found: FoundPlane): DataState {
  const claim = claimOfVolume(found);
  if (!claim) return 'Empty';
  if (claim.metadata.annotations?.[ANNOTATION_OWNER_UID] !== found.owner.uid) return 'Other';
  if (textAt(claim, 'status', 'phase') === 'Lost' || isWiped(found)) return 'Empty';
  return startsOf(found.record, 'etcd').length > 0 ? 'Own' : 'Empty';
}

/** Tells whether somebody emptied the volume behind its claim. */
function isWiped({ objects, record }: FoundPlane): boolean {
  const pod = currentPod(podsOfMember(objects, 'etcd'));
  if (record?.isSealed !== true || !pod || isPodReady(pod)) return false;
  return lastWords(pod)?.includes(WITHOUT_DATA) === true;
}

/** Throws where etcd would begin on the data of others, or without the data that it had. */
export function requireData(found: FoundPlane): void {
  const { where, owner } = found;
  const claim = `PersistentVolumeClaim ${planeNamespace(owner.name)}/${VOLUME}`;
  const data = volumeData(found);
  if (data === 'Other') {
    throw new HostingError(
      'DataNotOurs',
      `${claim} has the data of another control plane, or of one that is not known`,
      {
        where,
        hint: 'restore the data of this control plane, or delete the Cluster and create it again',
      },
    );
  }
  if (claimOfVolume(found) || startsOf(found.record, 'etcd').length === 0) return;
  throw new HostingError('DataMissing', `${claim} is missing, and etcd had data in it`, {
    where,
    hint: `restore it from a snapshot of its volume, with the annotation ${ANNOTATION_OWNER_UID}: ${owner.uid}, or delete the Cluster and create it again`,
  });
}
