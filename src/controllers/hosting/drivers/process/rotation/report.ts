/** Reports the rotation of the authorities of a control plane, with what its members trust on the wire. */
import { optional } from '../../../../../kube/objects/optional.ts';
import { readTrusted } from '../../../../../local/pki/authority.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { readFileIfExists } from '../../../../../os/files.ts';
import { type ProofPlace, proveAuthorities } from '../../authorities/proofs.ts';
import { type KeyDigests, membersBehind } from '../../authorities/record.ts';
import { isProvable, reportRotationState } from '../../authorities/report.ts';
import { tokenKeyId } from '../../authorities/token-key.ts';
import { isEtcdMember, type MemberReport, type PlaneReport } from '../../driver.ts';
import type { RotationReport } from '../../rotation.ts';
import type { OpenPlane } from '../plane.ts';
import { keyFiles } from '../preparation/keys.ts';
import { readBoth } from './authorities.ts';
import { type RotationRecord, readRotation } from './record.ts';
import { readSigned } from './signed.ts';

export async function reportRotation(
  found: OpenPlane,
  members: readonly MemberReport[],
  clock: Clock,
): Promise<Pick<PlaneReport, 'rotation' | 'authorities'>> {
  const { layout, record, claim } = found;
  if (claim !== 'Own' || !record) return {};
  const [rotation, signed] = [await readRotation(layout.root), await readSigned(layout.root)];
  const authorities = signed && { document: signed.document, signatures: signed.signatures };
  const report = rotation && {
    ...reportRotationState(rotation, { behind: membersBehind(rotation, members), signed }),
    ...(rotation.phase === 'Completed'
      ? {}
      : await reportProofs(found, record, { rotation, members, clock })),
  };
  return { ...optional('rotation', report), ...optional('authorities', authorities) };
}

interface ProofParts {
  readonly rotation: RotationRecord;
  readonly members: readonly MemberReport[];
  readonly clock: Clock;
}

async function reportProofs(
  found: OpenPlane,
  record: NonNullable<OpenPlane['record']>,
  { rotation, members, clock }: ProofParts,
): Promise<Pick<RotationReport, 'proofs' | 'tokenKeyId'>> {
  const { keys } = rotation;
  const isAsked = keys !== undefined && isProvable(rotation);
  const places = isAsked ? await proofPlaces(found, record, { members, keys }) : [];
  return {
    proofs: await proveAuthorities(places, clock.now()),
    tokenKeyId: tokenKeyId(await readFileIfExists(keyFiles(found.layout, record)('service-accounts'))),
  };
}

async function proofPlaces(
  { layout, specs }: OpenPlane,
  record: NonNullable<OpenPlane['record']>,
  { members, keys }: { readonly members: readonly MemberReport[]; readonly keys: KeyDigests },
): Promise<readonly ProofPlace[]> {
  const files = keyFiles(layout, record);
  const { pkiFolder } = layout.cluster(record.cluster);
  const etcd = {
    caPem: (await readTrusted(layout.etcd.pkiFolder)) ?? '',
    authorities: await readBoth('etcd-ca', files('etcd-ca'), keys),
  };
  const cluster = {
    caPem: (await readTrusted(pkiFolder)) ?? '',
    authorities: await readBoth('ca', files('ca'), keys),
  };
  return specs.flatMap(({ member, secureUrl: url }) =>
    url !== undefined && members.some((each) => each.member === member && each.state === 'Ready')
      ? [{ member, url, ...(isEtcdMember(member) ? etcd : cluster) }]
      : [],
  );
}
