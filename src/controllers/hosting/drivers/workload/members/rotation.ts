/** Reports the rotation of the authorities of a control plane of pods, with what each pod trusts on the wire. */
import { optional } from '../../../../../kube/objects/optional.ts';
import type { AuthorityProver, ProofPlace } from '../../authorities/proofs.ts';
import {
  type KeyDigests,
  membersBehind,
  type RotationState,
  type StartedMembers,
} from '../../authorities/record.ts';
import { isProvable, reportRotationState } from '../../authorities/report.ts';
import { tokenKeyId } from '../../authorities/token-key.ts';
import { isEtcdMember, type MemberReport, type PlaneMember, type PlaneReport } from '../../driver.ts';
import type { RotationPhase } from '../../rotation.ts';
import type { FoundPlane } from '../hub.ts';
import { isWorkloadMember, type WorkloadMember } from '../names.ts';
import { KEY_FILES, trustedCertificates } from '../pki/keys.ts';
import { keptAuthorities } from '../pki/rotation.ts';
import { SERVER_NAME, urlOfPod } from '../probe.ts';
import type { WorkloadRecord } from '../record.ts';
import { currentPod, podAddress, podsOfMember, remainingPods } from './pods.ts';

/** The phases in which one of both authorities is not trusted any more. */
const ONE_TRUSTED: readonly RotationPhase[] = ['TrustNew', 'TrustOld'];

interface RotationParts {
  readonly prove: AuthorityProver;
  readonly now: Date;
}

export async function reportPodRotation(
  found: FoundPlane,
  members: readonly MemberReport[],
  { prove, now }: RotationParts,
): Promise<Pick<PlaneReport, 'rotation' | 'authorities'>> {
  const { record, keys } = found;
  const { rotation, signed } = record ?? {};
  const authorities = signed && { document: signed.document, signatures: signed.signatures };
  if (!record || !rotation) return optional('authorities', authorities);
  const behind = podsBehind(record, rotation, members);
  const places = isProvable(rotation) ? proofPlaces(found, record, members) : [];
  const report = {
    ...reportRotationState(rotation, { behind, signed }),
    proofs: places.length > 0 ? await prove(places, now) : [],
    ...optional('tokenKeyId', tokenKeyId(keys[KEY_FILES['service-accounts']])),
  };
  return { rotation: report, ...optional('authorities', authorities) };
}

/** A member whose workload is not what was recorded is behind as well: hosting was killed between both writes. */
function podsBehind(
  { members }: WorkloadRecord,
  { sequence }: RotationState,
  all: readonly MemberReport[],
): readonly PlaneMember[] {
  const started: StartedMembers = Object.fromEntries(
    Object.entries(members).map(([name, { phase }]) => [name, phase]),
  );
  const behind = membersBehind({ sequence, members: started }, all);
  return all
    .filter(({ member, isOutdated }) => isOutdated === true || behind.includes(member))
    .map(({ member }) => member);
}

function proofPlaces(
  found: FoundPlane,
  record: WorkloadRecord,
  members: readonly MemberReport[],
): readonly ProofPlace[] {
  const { rotation } = record;
  const digests = rotation?.keys;
  if (!digests) return [];
  const isOneTrusted = ONE_TRUSTED.includes(rotation.phase);
  return members.flatMap(({ member, state }) => {
    const isAsked = state === 'Ready' && isWorkloadMember(member) && member !== 'kubenode-controllers';
    // A pod that is being deleted may still serve, and trust what the phase does not. It is not the one that answers.
    const isProvenAlone = isAsked && !(isOneTrusted && remainingPods(found.objects, member).length > 1);
    return isProvenAlone ? placeOf(member, found, { record, digests }) : [];
  });
}

/** One whose pod has no address cannot be asked: through the Service another one would answer for it. */
function placeOf(
  member: WorkloadMember,
  { objects, keys }: FoundPlane,
  { record: { placement }, digests }: { readonly record: WorkloadRecord; readonly digests: KeyDigests },
): readonly ProofPlace[] {
  const pod = currentPod(podsOfMember(objects, member));
  const address = pod && podAddress(pod);
  if (address === undefined) return [];
  const authority = isEtcdMember(member) ? 'etcd-ca' : 'ca';
  return [
    {
      member,
      url: urlOfPod({ member, address, apiPort: placement.exposure.port }),
      serverName: SERVER_NAME,
      caPem: trustedCertificates(keys, authority) ?? '',
      authorities: keptAuthorities(keys, authority, digests),
    },
  ];
}
