/** Tells how far a rotation of authorities is, and where it goes. Pure. */
import { isRelay, type MemberCertificate, type PlaneMember } from '../../drivers/driver.ts';
import type { AuthorityProof, ProofResult, RotationPhase, RotationReport } from '../../drivers/rotation.ts';
import { isRotationOver } from '../../drivers/rotation.ts';
import type { HostingInput } from '../input.ts';

type Input = Pick<HostingInput, 'plane' | 'hosted'>;

/** Returns the rotation that is neither completed nor taken back. */
export function rotationInWork({ plane }: Pick<HostingInput, 'plane'>): RotationReport | undefined {
  return plane.rotation && !isRotationOver(plane.rotation) ? plane.rotation : undefined;
}

/** Tells whether the rotation is taken back: the spec asks for none, or for another one. From `TrustNew` on there is only the way forward. */
export function isAborting({ hosted }: Input, { id, phase }: RotationReport): boolean {
  return phase === 'TrustOld' || (phase !== 'TrustNew' && hosted.pki.caRotation?.id !== id);
}

/** Tells whether the control plane does everything that the phase asks of it. */
export function isPhaseReached(input: Input, rotation: RotationReport): boolean {
  return rotation.isApplied && rotation.behind.length === 0 && unprovenMembers(input, rotation).length === 0;
}

/** Tells whether a rotation takes members out of service now. One that waits for its clients, or for a person, does not. */
export function isRotationMoving(input: Input): boolean {
  const rotation = rotationInWork(input);
  if (!rotation) return false;
  // Until the document is signed, agents follow the phase before: nothing else begins in between.
  if (!rotation.isSigned) return true;
  return !WAITING.includes(rotation.phase) || isAborting(input, rotation) || !isPhaseReached(input, rotation);
}

/** The phases in which a rotation may wait for its clients, or for a person. */
const WAITING: readonly RotationPhase[] = ['IssueNew', 'ServeNew'];

type Expected = Readonly<Pick<AuthorityProof, 'old' | 'new'>>;

const EXPECTED: Readonly<Record<RotationPhase, Expected>> = {
  TrustBoth: { old: 'Accepted', new: 'Accepted' },
  IssueNew: { old: 'Accepted', new: 'Accepted' },
  ServeNew: { old: 'Accepted', new: 'Accepted' },
  TrustNew: { old: 'Refused', new: 'Accepted' },
  TrustOld: { old: 'Accepted', new: 'Refused' },
  Completed: { old: 'Refused', new: 'Accepted' },
};

/** Returns the members that do not trust, or not serve on the wire, what the phase asks for. */
export function unprovenMembers({ plane }: Input, { phase, proofs }: RotationReport): readonly PlaneMember[] {
  const expected = EXPECTED[phase];
  return plane.members.flatMap(({ member, certificate, state }) => {
    if (member === 'kubenode-controllers' || isRelay(member)) return state === 'Ready' ? [] : [member];
    const proof = proofs.find((each) => each.member === member);
    const isProven = proof && isExpected(proof.old, expected.old) && isExpected(proof.new, expected.new);
    return isProven && isServed(certificate) ? [] : [member];
  });
}

/** An authority that is lost issues nothing that a member would have to refuse. */
function isExpected(result: ProofResult, expected: ProofResult): boolean {
  return result === expected || (expected === 'Refused' && result === 'Missing');
}

function isServed(certificate: MemberCertificate | undefined): boolean {
  return certificate !== undefined && certificate.serial === certificate.expectedSerial;
}
