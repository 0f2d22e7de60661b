/** Why each machine waits: exactly one reason for each that is not settled at its revision. Pure. */
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Limit } from '../../../rollout/limit.ts';
import type { MemberState } from '../machine/member-state.ts';
import type { RolloutAction, RolloutInput } from './input.ts';
import { permissionFor } from './permission.ts';
import { startWait } from './start-wait.ts';
import { isStopped } from './stopped.ts';
import { isUpdateOpen } from './upkeep/restarts.ts';

export type WaitInput = Pick<RolloutInput, 'members' | 'desired' | 'classOf'>;

export function explainWaits(
  input: WaitInput,
  actions: readonly RolloutAction[],
  limit: Limit,
): ReadonlyMap<string, Explanation> {
  const acted = new Set(
    actions.flatMap((action) => ('member' in action && action.type === 'Assign' ? [action.member.name] : [])),
  );
  return new Map(
    input.members.flatMap((member) => {
      const wait = acted.has(member.name) ? undefined : memberWait(input, member, limit);
      return wait ? [[member.name, wait] as const] : [];
    }),
  );
}

function memberWait(input: WaitInput, member: MemberState, limit: Limit): Explanation | undefined {
  const { desired } = input;
  if ('problems' in desired) return limit;
  const { revision } = desired;
  if (member.revision === revision.name) return grantWait(member, limit) ?? ownWait(member);
  return startWait(member, revision, permissionFor(input, member, revision, false)) ?? limit;
}

/** The agent of the machine only knows that it needs a grant, and not that the set asks for none. */
function grantWait(member: MemberState, limit: Limit): Explanation | undefined {
  const { step, name, because } = member;
  if (step !== 'NeedsGrant') return undefined;
  const isBlocked = isUpdateOpen(member) ? isStopped(limit) : IDLE.has(limit.reason);
  return isBlocked ? { ...limit, because: `${name}: ${because}; ${limit.because}` } : undefined;
}

/** Not even what is in force is restarted. */
const IDLE: ReadonlySet<string> = new Set(['DryRun', 'Paused']);

function ownWait({ step, reason, because, name }: MemberState): Explanation | undefined {
  return step === 'Settled'
    ? undefined
    : { reason, because: `${name}: ${because}`, blocker: { kind: 'Machine', name } };
}
