/** Reports the rotation of the authorities of a control plane. */
import type { Clock } from '../../../../../os/clock.ts';
import type { MemberReport, PlaneReport } from '../../driver.ts';
import type { RotationReport } from '../../rotation.ts';
import type { OpenPlane } from '../plane.ts';
import { keyFiles } from '../preparation/keys.ts';
import { proveAuthorities } from './proofs.ts';
import { membersBehind, readRotation } from './record.ts';
import { tokenKeyId } from './token-key.ts';

export async function reportRotation(
  found: OpenPlane,
  members: readonly MemberReport[],
  clock: Clock,
): Promise<Pick<PlaneReport, 'rotation'>> {
  const { layout, record, claim } = found;
  const rotation = claim === 'Own' ? await readRotation(layout.root) : undefined;
  if (!record || !rotation) return {};
  const { id, phase, isApplied, hasIssued, isEnding = false } = rotation;
  const shared = { id, phase, isApplied, hasIssued, isEnding };
  if (phase === 'Completed') return { rotation: { ...shared, behind: [], proofs: [] } };
  const report: RotationReport = {
    ...shared,
    behind: membersBehind(
      rotation,
      members.map(({ member }) => member),
    ),
    proofs: isApplied && !isEnding ? await proveAuthorities(found, found.specs, members, clock.now()) : [],
    tokenKeyId: await tokenKeyId(keyFiles(layout, record)('service-accounts')),
  };
  return { rotation: report };
}
