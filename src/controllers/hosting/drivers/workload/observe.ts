/** Observes a control plane by its objects in the hub, and by what its pods answer. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '../../../../kube/client/client.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { unusedIn } from '../authorities/keys.ts';
import type { AuthorityProver } from '../authorities/proofs.ts';
import {
  MEMBERS,
  type MemberReport,
  OWN_CONTROLLERS,
  type PlaneReport,
  type PlaneSpec,
  type SettledPlane,
} from '../driver.ts';
import type { EtcdAsking } from '../etcd/membership.ts';
import { PLANE_KEYS } from '../keys.ts';
import { addressesOf, keyRequest } from './access.ts';
import { reportPodBackups } from './backup/report.ts';
import { volumeData } from './data.ts';
import { placementDifferences, recordDifferences, settledOf, withLife } from './differences.ts';
import { listEtcd } from './etcd/acts.ts';
import { reportPodSpace } from './etcd/space.ts';
import { expectedBefore, expectedSecrets, missingObjects } from './expected.ts';
import { claimOfVolume, type FoundPlane, readHubPlane } from './hub.ts';
import { reportMember } from './members/report.ts';
import { reportPodRotation } from './members/rotation.ts';
import { workloadImage } from './members/templates.ts';
import { etcdMembersOf, workloadMembersOf } from './names.ts';
import { type NamedClasses, otherClasses } from './objects/storage-class.ts';
import { type KeyRequest, reportKeys } from './pki/keys.ts';
import { lostNeededKeys, lostPlaneKeys, withDerivedKeys } from './pki/rotation.ts';
import type { CertificateProbe } from './probe.ts';
import { type WorkloadRecord, wasStarted } from './record.ts';

export interface ObserveParts {
  readonly client: Client;
  readonly now: Date;
  readonly programs: PlaneReport['programs'];
  readonly signal: AbortSignal;
  readonly asking: EtcdAsking;
  readonly probe: CertificateProbe;
  readonly prove: AuthorityProver;
  /** Whether the hub has a place for backups. */
  readonly takesBackups: boolean;
  /** Undefined: the file of images cannot be read. */
  readonly classes: NamedClasses | undefined;
}

export async function observeWorkload(plane: PlaneSpec, parts: ObserveParts): Promise<PlaneReport> {
  const found = await readHubPlane(parts.client, plane, { signal: parts.signal });
  const { where, claim, record } = found;
  const shared = { where, place: 'Namespace', location: where, claim, programs: parts.programs } as const;
  if (claim !== 'Own' || !record) {
    return { ...shared, ...NOTHING, isDestroying: isTerminating(found) };
  }
  const request = requestFor(found, withLife(record, plane), parts.now);
  const fixed = placementDifferences(record, plane);
  // What cannot be reached takes its time, all of it at once.
  const [etcd, space, members] = await Promise.all([
    listEtcd(found, parts),
    reportPodSpace(found, parts),
    Promise.all(
      workloadMembersOf(record).map((member) =>
        reportMember(member, { found, record, request, now: parts.now, probe: parts.probe }),
      ),
    ),
  ]);
  return {
    ...shared,
    isPrepared: isPrepared(found, record),
    data: volumeData(found),
    ...reportLost(found, record),
    certificates: request ? reportKeys(found.keys, request) : [],
    isDestroying: record.isDestroying || isTerminating(found),
    settled: settledPlane(found, record),
    differences: [...recordDifferences(record, plane), ...fixed],
    ...optional('fixed', fixed.length > 0 ? fixed : undefined),
    ...optional('otherClasses', otherClasses(found, parts.classes)),
    ...optional('snapshotAt', record.snapshot && new Date(record.snapshot.takenAt)),
    ...optional('backup', parts.takesBackups ? reportPodBackups(found) : undefined),
    ...optional('etcd', etcd),
    ...optional('space', space),
    ...(await reportPodRotation(found, members, parts)),
    members,
  };
}

/** A hosting that recorded no image of our own controllers left it in their Deployment, which nothing has changed since. */
function settledPlane({ objects }: FoundPlane, record: WorkloadRecord): SettledPlane {
  const controllers = record.controllers ?? workloadImage(objects.workloads.get(OWN_CONTROLLERS));
  return { ...settledOf(record), ...optional('controllers', controllers) };
}

const NOTHING = {
  isPrepared: false,
  data: 'Empty',
  lostKeys: [],
  certificates: [],
  settled: undefined,
  differences: [],
  members: MEMBERS.map((member): MemberReport => ({ member, state: 'Stopped', starts: [] })),
} as const;

/** A namespace that somebody deletes ends with all that is in it. */
function isTerminating({ namespace }: FoundPlane): boolean {
  return namespace?.metadata.deletionTimestamp !== undefined;
}

function requestFor(found: FoundPlane, record: WorkloadRecord, now: Date): KeyRequest | undefined {
  const addresses = addressesOf(found);
  return addresses && keyRequest(found, record, { addresses, now });
}

/** Tells whether everything was made that is made before a member starts, and stays. */
function isPrepared(found: FoundPlane, record: WorkloadRecord): boolean {
  const addresses = addressesOf(found);
  if (!addresses || PLANE_KEYS.some((name) => record.keys?.[name] === undefined)) return false;
  const hasVolumes = etcdMembersOf(record).every(
    (member) => claimOfVolume(found, member) !== undefined || wasStarted(record, member),
  );
  const expected = [...expectedBefore(record), ...expectedSecrets(found, record)];
  return hasVolumes && areKeysDerived(found, record) && missingObjects(found.objects, expected).length === 0;
}

function reportLost(
  { keys }: FoundPlane,
  record: WorkloadRecord,
): Pick<PlaneReport, 'lostKeys' | 'lostUnused'> {
  const lostKeys = lostPlaneKeys(keys, record);
  return { lostKeys, ...unusedIn(lostKeys, lostNeededKeys(keys, record)) };
}

/**
 * Tells whether the keys that issue, and what is trusted, are those of the record: files of another phase, or of somebody else, may be there. Those of
 * a phase that is not written yet are written with a grant, and those of a key that is missing cannot be derived.
 */
function areKeysDerived({ keys }: FoundPlane, record: WorkloadRecord): boolean {
  const { rotation } = record;
  const isWriting = rotation !== undefined && rotation.phase !== 'Completed' && !rotation.isApplied;
  if (isWriting || lostPlaneKeys(keys, record).length > 0) return true;
  return isDeepStrictEqual(withDerivedKeys(keys, rotation), keys);
}
