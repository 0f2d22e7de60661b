/** Finds what a whole set waits for, and whether work goes on meanwhile. Pure. */

import type { Blocker } from '../../../api/generated/types.ts';
import { DRAIN_PENDING } from '../../../api/machine/drain-wait.ts';
import type { Reason } from '../../../api/names.ts';
import { FLEET_ALLOWANCE } from '../../../api/names.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { MemberState } from '../machine/member-state.ts';
import { isStopped } from '../rollout/stopped.ts';
import type { DeniedMachine, SetReport } from './report.ts';

/** The reasons of a rollout that is on its way, or at its end. */
const NO_WAIT: ReadonlySet<string> = new Set<Reason>(['AllDone', 'BatchFull', 'RollingBack', 'Soaking']);

/** Returns what the set waits for. Undefined while nothing waits. */
export function setWait(report: SetReport): Explanation | undefined {
  const { input, plan, denials, conflicts } = report;
  const { limit } = plan;
  // It is shown before all else.
  if (isStopped(limit) || 'problems' in input.desired) return limit;
  if (denials.length > 0) return denialWait(denials);
  const blocked = input.members.find(({ name }) => name === limit.blocker?.name);
  if (isWait(report, blocked)) return limit;
  return drainWait(blocked) ?? conflicts[0]?.conflict;
}

function isWait(report: SetReport, blocked: MemberState | undefined): boolean {
  const { reason } = report.plan.limit;
  if (NO_WAIT.has(reason) || blocked?.step === 'InWork') return false;
  return reason !== TOO_MANY || !isWorking(report);
}

/** The reason that the set causes itself while its machines are in work: then it is not a wait. */
const TOO_MANY: Reason = 'TooManyUnavailable';

/** Tells whether a machine of the set is in work now, or is started by the plan. */
export function isWorking({ input, plan, denials }: SetReport): boolean {
  const isInWork = [...input.members, ...input.left].some(
    ({ holdsGrant, step }) => holdsGrant && step === 'InWork',
  );
  const denied = new Set(denials.map(({ machine }) => machine));
  return (
    isInWork || plan.actions.some((action) => action.type === 'Assign' && !denied.has(action.member.name))
  );
}

/** Returns the wait of a drain: the machine controller knows which pod or budget it waits for. */
function drainWait(member: MemberState | undefined): Explanation | undefined {
  const waiting = member?.reason === DRAIN_PENDING ? member.machine.status?.waiting : undefined;
  if (!member || !waiting) return undefined;
  const { reason, blocker, message = reason } = waiting;
  return { reason, because: `${member.name}: ${message}`, ...optional('blocker', blocker) };
}

export function denialWait(denials: readonly DeniedMachine[]): Explanation | undefined {
  const [first] = denials;
  if (!first) return undefined;
  const more = denials.length > 1 ? ` (and ${denials.length - 1} more)` : '';
  const { because, ...wait } = deniedMachine(first);
  return { ...wait, because: `${because}${more}` };
}

/** Explains the denial for one machine. The message of the Defender has number and limit. */
export function deniedMachine({ machine, denial }: DeniedMachine): Explanation {
  const { reason, message, policy, retryAt } = denial;
  const blocker = blockerOf(machine, denial);
  const by = policy === undefined ? '' : ` (DefenderPolicy ${policy})`;
  return {
    reason: 'GrantDenied',
    because: `${machine}: ${reason}: ${message}${by}`,
    blocker,
    ...optional('until', retryAt),
  };
}

function blockerOf(machine: string, { reason, policy }: DeniedMachine['denial']): Blocker {
  if (policy !== undefined) return { kind: 'DefenderPolicy', name: policy };
  return reason === 'FleetLimit' || reason === 'FleetCause'
    ? { kind: 'FleetAllowance', name: FLEET_ALLOWANCE }
    : { kind: 'Machine', name: machine };
}

/** Returns one reason for each machine that is not settled, also for those that the Defender denied. */
export function machineWaits({ plan, denials }: SetReport): ReadonlyMap<string, Explanation> {
  return new Map([...plan.waiting, ...denials.map((each) => [each.machine, deniedMachine(each)] as const)]);
}
