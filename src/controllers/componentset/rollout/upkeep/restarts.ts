/** Grants that agents ask for: for a restart, or for the rest of an update whose drain was given up. Pure. */
import { reportOf } from '../../../../api/machine/entry-report.ts';
import type { MemberState } from '../../machine/member-state.ts';
import type { RolloutAction, RolloutInput } from '../input.ts';
import { returnRevision } from '../mode.ts';
import { pickMembers } from '../slots.ts';

/**
 * Agents found that a process runs with wrong content, and may not restart it by themselves. It costs availability as an update
 * does. Where a rollout has stopped, an agent may ask for the rest of its update: nothing of that revision begins.
 */
export function planRestarts(
  input: RolloutInput,
  { changing, available }: { readonly changing: ReadonlySet<string>; readonly available: number },
): readonly RolloutAction[] {
  const { stopped, updateRevision } = input.progress;
  const asking = input.members.filter(
    ({ name, revision, step, hold, grant }) =>
      step === 'NeedsGrant' &&
      !hold &&
      !grant &&
      !changing.has(name) &&
      !(stopped && revision === updateRevision),
  );
  const back = returnRevision(input);
  return pickMembers(asking, asking.length, available).members.map((member) => {
    const isOpen = isUpdateOpen(member);
    const recovery = isOpen && back !== undefined && member.revision === back;
    const permission = { by: 'Ask', class: isOpen ? 'Drain' : 'Restart', recovery } as const;
    return { do: 'Permit', member, permission, because: member.because };
  });
}

/** Its drain was given up: what it asks for is the rest of its update, not a restart of what is in force. */
export function isUpdateOpen({ machine, revision }: Pick<MemberState, 'machine' | 'revision'>): boolean {
  return machine.spec.components.some((entry) => {
    const current = reportOf(machine, entry)?.currentRef;
    return entry.assignment?.revision === revision && current !== undefined && current !== entry.componentRef;
  });
}
