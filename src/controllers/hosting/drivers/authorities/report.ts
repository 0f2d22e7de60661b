/** Reports what the record of a driver has about a rotation of authorities. Pure. */
import type { PlaneMember } from '../driver.ts';
import type { RotationReport } from '../rotation.ts';
import type { RotationState } from './record.ts';
import { isSignedFor, type SignedRecord } from './signed.ts';

interface RecordParts {
  /** The members that were not started since the files are those of the phase. */
  readonly behind: readonly PlaneMember[];
  readonly signed: SignedRecord | undefined;
}

export function reportRotationState(state: RotationState, { behind, signed }: RecordParts): RotationReport {
  const { id, phase, sequence, isApplied, hasIssued, isEnding = false } = state;
  const shared = { id, phase, sequence, isApplied, hasIssued, isEnding, proofs: [] };
  return {
    ...shared,
    behind: phase === 'Completed' ? [] : behind,
    ...(isSignedFor(signed, state) && signed
      ? { isSigned: true, signedAt: new Date(signed.signedAt) }
      : { isSigned: false }),
  };
}

/** Tells whether a client may ask members for what the phase trusts: the keys for it are there. */
export function isProvable({ phase, isApplied, isEnding = false }: RotationState): boolean {
  return phase !== 'Completed' && isApplied && !isEnding;
}
