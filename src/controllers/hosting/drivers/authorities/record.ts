/** The state of a rotation of authorities, which every driver keeps in its record and writes before it changes anything for a phase. Pure. */
import { z } from 'zod';
import { isBalancer, isGateway, type MemberReport, type PlaneMember } from '../driver.ts';
import { PLANE_KEYS } from '../keys.ts';
import { ROTATION_PHASES, type RotationPhase } from '../rotation.ts';

const keyDigests = z.partialRecord(z.enum(PLANE_KEYS), z.string());

export const ROTATION_FIELDS = {
  id: z.string(),
  phase: z.enum(ROTATION_PHASES),
  /** Counts the phases, so that a member that was started in one before is found without a clock. */
  sequence: z.int(),
  /** Whether every file is that of the phase. */
  isApplied: z.boolean(),
  /** Whether the new authorities ever issued a certificate. */
  hasIssued: z.boolean(),
  /** Whether its end has begun, after which the kept keys are removed. */
  isEnding: z.boolean().optional(),
  /** The digests of the public keys. Absent: the new keys are not made yet. */
  keys: z.strictObject({ old: keyDigests, new: keyDigests }).optional(),
} as const;
const rotationState = z.strictObject(ROTATION_FIELDS);
export type RotationState = Readonly<z.infer<typeof rotationState>>;
export type KeyDigests = NonNullable<RotationState['keys']>;

/** The phase in which each member was started last, as the count of phases. It is recorded before the start. */
export type StartedMembers = Readonly<Partial<Record<PlaneMember, number>>>;

export function newRotation(id: string, sequence = 1): RotationState {
  const phase: RotationPhase = 'TrustBoth';
  return { id, phase, sequence, isApplied: false, hasIssued: false };
}

/** Tells whether both are in one and the same phase. A rotation that is taken back is in one phase twice, with another count. */
export function isSamePhase(
  state: Pick<RotationState, 'id' | 'phase' | 'sequence'> | undefined,
  { id, phase, sequence }: Pick<RotationState, 'id' | 'phase' | 'sequence'>,
): boolean {
  return state?.id === id && state.phase === phase && state.sequence === sequence;
}

/** Returns the state of the next phase. Members have to be started again for it, unless only what they serve changes. */
export function nextPhase<T extends RotationState>(state: T, phase: RotationPhase): T {
  const hasIssued = state.hasIssued || phase === 'IssueNew';
  // What a member serves is read again while it runs.
  const sequence = phase === 'ServeNew' ? state.sequence : state.sequence + 1;
  return { ...state, phase, sequence, isApplied: false, hasIssued };
}

/**
 * Returns the members that were not started since the files are those of the phase. A balancer reads again and again what it trusts; one that an
 * earlier version of hosting started has read it once. A gateway serves also while it trusts nothing.
 */
export function membersBehind(
  { sequence, members }: Pick<RotationState, 'sequence'> & { readonly members: StartedMembers },
  all: readonly MemberReport[],
): readonly PlaneMember[] {
  return all
    .filter(({ member, state, reaches }) => {
      if (isGateway(member)) return false;
      return isBalancer(member) ? state === 'Ready' && reaches === undefined : members[member] !== sequence;
    })
    .map(({ member }) => member);
}
