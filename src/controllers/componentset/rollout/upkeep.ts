/** Grants of machines in work: renewed while it goes on, settled when it has ended. Pure. */
import type { MemberState } from '../machine/member-state.ts';
import type { RolloutAction, RolloutInput } from './input.ts';

/** Half of the life of a grant: a controller that is away for less leaves no agent without permission. */
const RENEW_BEFORE_MS = 150_000;

/** `changing` get other entries now, with the grant that they have. */
export function planUpkeep(
  { set, members, left, deleted, now }: RolloutInput,
  changing: ReadonlySet<string>,
): readonly RolloutAction[] {
  const kept = [...members, ...left].filter(({ name }) => !changing.has(name));
  const isPaused = set.spec.paused;
  return [
    ...kept.flatMap((member) => settlement(member) ?? renewal(member, now) ?? []),
    ...(isPaused
      ? []
      : members.filter(({ name }) => !changing.has(name)).flatMap((each) => restart(each) ?? [])),
    ...deleted.map(({ machine, grant }): RolloutAction => {
      return {
        do: 'Release',
        machine,
        grant,
        outcome: 'Ambiguous',
        because: `Machine ${machine} was deleted`,
      };
    }),
  ];
}

/** A machine that failed keeps its grant until its Node serves: nothing else may begin on it before. */
function settlement(member: MemberState): RolloutAction | undefined {
  const { step, because, holdsGrant } = member;
  if (!holdsGrant) return undefined;
  if (step === 'Settled') return { do: 'Settle', member, outcome: 'Succeeded', because };
  if (step === 'UnhealthyBefore') return { do: 'Settle', member, outcome: 'Ambiguous', because };
  return hasGivenUp(member) ? { do: 'Settle', member, outcome: 'Failed', because } : undefined;
}

function hasGivenUp({ step, reason, isEstablished, readiness }: MemberState): boolean {
  const isOver = step === 'Failed' && reason !== 'TimedOut' && reason !== 'AgentSilent';
  return isOver && (!isEstablished || readiness === 'Ready');
}

/** Also where the entry does not have the grant any more, as after a plain `kubectl apply`. */
function renewal(member: MemberState, now: Date): RolloutAction | undefined {
  const { step, holdsGrant, grant, grantEndsAt } = member;
  if (!holdsGrant || !grant || step !== 'InWork') return undefined;
  if (grantEndsAt && +grantEndsAt - +now > RENEW_BEFORE_MS) return undefined;
  const permission = { by: 'Renew', class: 'None', recovery: false } as const;
  return { do: 'Permit', member, permission, because: member.because };
}

/** The agent found that a process runs with wrong content, and may not restart it by itself. */
function restart(member: MemberState): RolloutAction | undefined {
  if (member.step !== 'NeedsGrant') return undefined;
  const permission = { by: 'Ask', class: 'Restart', recovery: false } as const;
  return { do: 'Permit', member, permission, because: member.because };
}
