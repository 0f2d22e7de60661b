/** Decides what a machine needs from the Defender to be given a revision. Pure. */
import { optional } from '../../../kube/objects/optional.ts';
import type { MemberState } from '../machine/member-state.ts';
import { isProvenRevision } from '../revision/history.ts';
import type { Revision } from '../revision/resolve.ts';
import type { Permission, RolloutInput } from './input.ts';

type PermissionInput = Pick<RolloutInput, 'classOf' | 'skewOf' | 'compatOf'> &
  Partial<Pick<RolloutInput, 'progress'>>;

/** Returns the permission that a machine needs. With `recovery` the machine goes back, which only the limit of the set itself may stop. */
export function permissionFor(
  { classOf, skewOf, compatOf, progress }: PermissionInput,
  member: MemberState,
  revision: Revision,
  recovery: boolean,
): Permission {
  const by = member.holdsGrant ? 'Renew' : 'Ask';
  // What goes back ran there before, and what replaces it may be worse.
  const incompatible = recovery ? undefined : compatOf?.(member, revision);
  const forbidden = skewOf?.(member, revision) ?? incompatible;
  return {
    by,
    class: classOf(member, revision),
    recovery,
    ...optional('brings', broughtBy(revision, member, progress)),
    ...optional('forbidden', forbidden),
  };
}

/** A machine that joins gets a revision that completed: nothing of it is new. */
function broughtBy(
  { name, components }: Revision,
  { machine }: MemberState,
  progress: PermissionInput['progress'],
): readonly string[] | undefined {
  if (isProvenRevision(progress?.history ?? [], name)) return undefined;
  const present = new Set(machine.spec.components.map(({ componentRef }) => componentRef));
  const added = components.filter(
    ({ componentRef, state }) => state !== 'Absent' && !present.has(componentRef),
  );
  return added.length === 0 ? undefined : added.map(({ componentRef }) => componentRef);
}
