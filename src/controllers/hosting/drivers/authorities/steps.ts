/** Decides in which order the phases of a rotation of authorities are entered, and when it ends. Pure. */
import { HostingError } from '../../errors.ts';
import type { RotationPhase, RotationStep } from '../rotation.ts';
import { nextPhase, type RotationState } from './record.ts';

/** Lists what each phase may be followed by. Once the former authorities are not trusted any more, nothing takes a rotation back. */
const NEXT: Readonly<Record<RotationPhase, readonly RotationPhase[]>> = {
  TrustBoth: ['IssueNew', 'TrustOld'],
  IssueNew: ['ServeNew', 'TrustBoth'],
  ServeNew: ['TrustNew', 'TrustBoth'],
  TrustNew: [],
  TrustOld: [],
  Completed: [],
};

interface PhaseStep<T extends RotationState> {
  readonly id: string;
  readonly phase: RotationPhase;
  /** Where the control plane is, for people. */
  readonly where: string;
  readonly begin: (id: string) => T;
}

/** Returns the state in that phase: the same one where it is in it already. Throws where the phase cannot follow. */
export function enteredPhase<T extends RotationState>(
  before: T | undefined,
  { id, phase, where, begin }: PhaseStep<T>,
): T {
  const current = before && isOther(before, id) ? undefined : before;
  if (!current && phase === 'TrustBoth') return begin(id);
  if (current?.id !== id) throw outOfOrder(where, phase);
  return followingPhase(current, phase, where);
}

function followingPhase<T extends RotationState>(current: T, phase: RotationPhase, where: string): T {
  // Completed is recorded when the new keys are those of the control plane.
  if (current.phase === phase || phase === 'Completed') return current;
  if (!NEXT[current.phase].includes(phase)) throw outOfOrder(where, phase);
  return nextPhase(current, phase);
}

/** Tells whether the rotation is over, and another one is asked for. */
function isOther(before: RotationState, id: string): boolean {
  return before.phase === 'Completed' && before.id !== id;
}

/** The state of a rotation that ends, whose keys were made. */
type EndingState<T extends RotationState> = T & { readonly keys: NonNullable<T['keys']> };

interface EndStep {
  readonly id: string;
  readonly phase: 'Completed' | 'Aborted';
  /** Where the control plane is, for people. */
  readonly where: string;
}

/**
 * Returns the state with its end begun, from when on nothing can be proven. Undefined: it is over. Throws where it cannot end so, and for another
 * rotation than the one that is to end.
 */
export function endingPhase<T extends RotationState>(
  before: T | undefined,
  { id, phase: end, where }: EndStep,
): EndingState<T> | undefined {
  if (!before || before.phase === 'Completed') return undefined;
  const last: RotationPhase = end === 'Completed' ? 'TrustNew' : 'TrustOld';
  const { keys } = before;
  const isLast = before.id === id && before.phase === last;
  if (!isLast || !before.isApplied || !keys) throw outOfOrder(where, end);
  return { ...before, keys, isEnding: true };
}

function outOfOrder(where: string, phase: RotationStep['phase']): HostingError {
  return new HostingError('RotationOutOfOrder', `the rotation of the authorities cannot go to ${phase} now`, {
    where,
    hint: 'nothing to do: hosting observes the control plane again',
  });
}
