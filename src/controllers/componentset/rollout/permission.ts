/** Decides what a machine needs from the Defender to be given a revision. Pure. */
import { optional } from '../../../kube/objects/optional.ts';
import type { MemberState } from '../machine/member-state.ts';
import type { Revision } from '../revision/resolve.ts';
import type { Permission, RolloutInput } from './input.ts';

/** Returns the permission that a machine needs. With `recovery` the machine goes back, which only the limit of the set itself may stop. */
export function permissionFor(
  { classOf, skewOf, compatOf }: Pick<RolloutInput, 'classOf' | 'skewOf' | 'compatOf'>,
  member: MemberState,
  revision: Revision,
  recovery: boolean,
): Permission {
  const by = member.holdsGrant ? 'Renew' : 'Ask';
  // What goes back ran there before, and what replaces it may be worse.
  const incompatible = recovery ? undefined : compatOf?.(member, revision);
  const forbidden = skewOf?.(member, revision) ?? incompatible;
  return { by, class: classOf(member, revision), recovery, ...optional('forbidden', forbidden) };
}
