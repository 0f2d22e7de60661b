/** Plans grants that agents ask for: for a restart, or for the rest of an update whose drain was given up. Pure. */
import type { MachineComponentReport } from '../../../../api/generated/types.ts';
import { reportOf } from '../../../../api/machine/entry-report.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { Explanation } from '../../../../rollout/explanation.ts';
import type { Limit } from '../../../../rollout/limit.ts';
import type { MemberState } from '../../machine/member-state.ts';
import type { SpreadUse } from '../choice/spread.ts';
import type { RolloutAction, RolloutInput } from '../input.ts';
import { returnRevision } from '../mode.ts';
import { pickMembers } from '../slots.ts';

export interface Restarts {
  readonly actions: readonly RolloutAction[];
  /** Machines that wait until more of the others are in service. */
  readonly waiting: ReadonlySet<string>;
  /** Why the first of them waits, if others of its domain are in work. */
  readonly spread?: Explanation;
}

export interface RestartContext {
  /** Machines that get other entries now. */
  readonly changing: ReadonlySet<string>;
  readonly available: number;
  /** The machines in work by domain. Undefined: domains do not limit. */
  readonly spread?: SpreadUse | undefined;
}

/**
 * Plans restarts. Agents found that a process runs with wrong content, and may not restart it by themselves. A restart costs
 * availability as an update does. Where a rollout has stopped, an agent may ask for the rest of its update: nothing of that
 * revision begins. A restart of what is in force is permitted.
 */
export function planRestarts(input: RolloutInput, { changing, available, spread }: RestartContext): Restarts {
  const asking = input.members.filter((member) => !changing.has(member.name) && mayRestart(member, input));
  const picked = pickMembers(asking, asking.length, available, { preferUnhealthy: true, spread });
  const late = asking.filter((member) => !picked.members.includes(member));
  const back = returnRevision(input);
  const actions = picked.members.map((member) => permitRestart(member, back));
  return { actions, waiting: new Set(late.map(({ name }) => name)), ...optional('spread', picked.spread) };
}

function mayRestart(member: MemberState, input: RolloutInput): boolean {
  const { revision, step, hold, grant } = member;
  if (step !== 'NeedsGrant' || hold || grant) return false;
  const { updateRevision, stopped } = input.progress;
  return (revision === updateRevision && !stopped) || isIndependent(member, input);
}

/**
 * Returns whether the machine does not depend on the rollout: it keeps what it runs, or goes back to the stable revision. The rest of an
 * update to another revision is never finished, because the machine gets the newer revision in its batch.
 */
export function isIndependent(
  member: Pick<MemberState, 'machine' | 'revision'>,
  { progress, stable }: Pick<RolloutInput, 'progress' | 'stable'>,
): boolean {
  const { revision } = member;
  if (revision === progress.updateRevision) return isInForce(member);
  return revision === stable?.name || unfinished(member).length === 0;
}

function permitRestart(member: MemberState, back: string | undefined): RolloutAction {
  const isOpen = isUpdateOpen(member);
  const recovery = isOpen && back !== undefined && member.revision === back;
  const permission = { by: 'Ask', class: isOpen ? 'Drain' : 'Restart', recovery } as const;
  return { type: 'Permit', member, permission, because: member.because };
}

/**
 * Tells whether the drain of the update was given up: then the machine asks for the rest of its update, not for a restart of
 * what is in force.
 */
export function isUpdateOpen(member: Pick<MemberState, 'machine' | 'revision'>): boolean {
  return unfinished(member).some(({ currentRef }) => currentRef !== undefined);
}

/**
 * Tells whether the revision is in force on the machine. A restart of the machine begins nothing of its revision, also where
 * that has stopped: it corrects what somebody else has changed.
 */
export function isInForce(member: Pick<MemberState, 'machine' | 'revision'>): boolean {
  const { machine, revision } = member;
  const entries = machine.spec.components.filter(({ assignment }) => assignment?.revision === revision);
  return (
    entries.length > 0 &&
    entries.every((entry) => reportOf(machine, entry)?.currentRef === entry.componentRef)
  );
}

/** Returns the reports of entries of the set that are not in force. */
function unfinished({
  machine,
  revision,
}: Pick<MemberState, 'machine' | 'revision'>): readonly MachineComponentReport[] {
  return machine.spec.components.flatMap((entry) => {
    const report = entry.assignment?.revision === revision ? reportOf(machine, entry) : undefined;
    return report && report.currentRef !== entry.componentRef ? [report] : [];
  });
}

/** Adds to a limit what the agent of the machine cannot know: its restart waits for others. */
export function withRestartWait(limit: Limit, { waiting, spread }: Restarts, availability: Limit): Limit {
  if (!waiting.has(limit.blocker?.name ?? '')) return limit;
  const cause = spread ? { ...spread, slots: 0 } : availability;
  return { ...cause, because: `${limit.because}; ${cause.because}` };
}
