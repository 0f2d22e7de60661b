/** A drain that has not ended is given up, with its grant: while the set is paused or has stopped, or when the machine left it. Pure. */
import type { Machine } from '../../../../api/generated/types.ts';
import { DRAIN_PENDING } from '../../../../api/machine/drain-wait.ts';
import { parseTime } from '../../../../api/machine/node-state.ts';
import type { MemberState } from '../../machine/member-state.ts';
import type { RolloutAction } from '../input.ts';

/** A cordon has to end within a minute: half of it is left for the reconciles of both controllers. */
const DRAIN_GRACE_MS = 30_000;

/**
 * A pause does not wait for the end of a drain: a budget may hold it up for ever. The agent has only staged, so that its machine
 * runs what it ran before; it asks for a grant again. A drain that has not begun by then does not begin.
 */
export function planWithdrawal(member: MemberState, now: Date, pausedAt?: Date): RolloutAction | undefined {
  if (!isWaitingForDrain(member) || isDrained(member.machine)) return undefined;
  const began = parseTime(member.machine.status?.drain?.since);
  const since = Math.max(+(began ?? 0), +(pausedAt ?? 0));
  if (+now - since < DRAIN_GRACE_MS) return undefined;
  return { type: 'Settle', member, outcome: 'Unused', because: `its drain is given up: ${member.because}` };
}

function isWaitingForDrain({ step, reason, holdsGrant }: MemberState): boolean {
  return holdsGrant && step === 'InWork' && reason === DRAIN_PENDING;
}

function isDrained({ status }: Machine): boolean {
  return status?.drain?.state === 'Drained';
}
