/** Why each machine waits: exactly one reason for each that is not settled at its revision. Pure. */
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Limit } from '../../../rollout/limit.ts';
import type { MemberState } from '../machine/member-state.ts';
import type { RolloutAction, RolloutInput } from './input.ts';
import { startWait } from './start-wait.ts';

export function explainWaits(
  input: RolloutInput,
  actions: readonly RolloutAction[],
  limit: Limit,
): ReadonlyMap<string, Explanation> {
  const acted = new Set(
    actions.flatMap((action) => ('member' in action && action.do === 'Assign' ? [action.member.name] : [])),
  );
  return new Map(
    input.members.flatMap((member) => {
      const wait = acted.has(member.name) ? undefined : memberWait(input, member, limit);
      return wait ? [[member.name, wait] as const] : [];
    }),
  );
}

function memberWait(input: RolloutInput, member: MemberState, limit: Limit): Explanation | undefined {
  const { desired } = input;
  if ('problems' in desired) return limit;
  const { revision } = desired;
  if (member.revision === revision.name) return ownWait(member);
  const permission = { by: 'Ask', class: input.classOf(member, revision), recovery: false } as const;
  return startWait(member, revision, permission) ?? limit;
}

function ownWait({ step, reason, because, name }: MemberState): Explanation | undefined {
  return step === 'Settled'
    ? undefined
    : { reason, because: `${name}: ${because}`, blocker: { kind: 'Machine', name } };
}
