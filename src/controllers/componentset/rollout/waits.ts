/** Why each machine waits: exactly one reason for each that is not settled at its revision. Pure. */
import type { Reason } from '../../../api/names.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { Limit } from '../../../rollout/limit.ts';
import type { MemberState } from '../machine/member-state.ts';
import { type SpreadUse, spreadUse, spreadWait, withStarted } from './choice/spread.ts';
import type { RolloutAction, RolloutInput } from './input.ts';
import { permissionFor } from './permission.ts';
import { startWait } from './start-wait.ts';
import { isStopped } from './stopped.ts';
import { isUpdateOpen } from './upkeep/restarts.ts';

export type WaitInput = Pick<RolloutInput, 'members' | 'desired' | 'classOf' | 'skewOf' | 'compatOf'> &
  Partial<Pick<RolloutInput, 'set' | 'left'>>;

export function explainWaits(
  input: WaitInput,
  actions: readonly RolloutAction[],
  limit: Limit,
): ReadonlyMap<string, Explanation> {
  const acted = new Set(
    actions.flatMap((action) => ('member' in action && action.type === 'Assign' ? [action.member.name] : [])),
  );
  const spread = limit.reason === CROWDED ? withStarted(spreadOf(input), actions) : undefined;
  return new Map(
    input.members.flatMap((member) => {
      const wait = acted.has(member.name) ? undefined : memberWait(input, member, { limit, spread });
      return wait ? [[member.name, wait] as const] : [];
    }),
  );
}

function spreadOf({ set, members, left = [] }: WaitInput): SpreadUse | undefined {
  return set && spreadUse({ set, members, left });
}

interface SetLimit {
  readonly limit: Limit;
  readonly spread: SpreadUse | undefined;
}

function memberWait(
  input: WaitInput,
  member: MemberState,
  { limit, spread }: SetLimit,
): Explanation | undefined {
  const { desired } = input;
  if ('problems' in desired) return limit;
  const { revision } = desired;
  if (member.revision === revision.name) return grantWait(member, limit) ?? ownWait(member);
  const own = startWait(member, revision, permissionFor(input, member, revision, false));
  return own ?? (spread && spreadWait(spread, member)) ?? limit;
}

/** The limit names the first machine that waits for its domain: each other one waits for its own. */
const CROWDED: Reason = 'SpreadLimit';

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
