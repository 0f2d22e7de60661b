/** Why a machine cannot be given another revision now, whatever the rollout is at. Pure. */
import { isClassAtLeast } from '../../../api/machine/component-change.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { MemberState } from '../machine/member-state.ts';
import type { Revision } from '../revision/resolve.ts';
import type { Permission } from './input.ts';

/** Undefined: it can. What the Defender denies later is not known here. */
export function startWait(
  member: MemberState,
  revision: Revision,
  permission: Permission,
): Explanation | undefined {
  return (
    pinWait(member, revision) ??
    holdWait(member, permission) ??
    permission.forbidden ??
    silenceWait(member) ??
    cordonWait(member, permission) ??
    grantWait(member, permission)
  );
}

/** Every component of the set is a pin here: the set has nothing to do. */
export function isPinned({ pinned }: MemberState, { components }: Revision): boolean {
  return components.every(({ name }) => pinned.includes(name));
}

function pinWait(member: MemberState, revision: Revision): Explanation | undefined {
  if (!isPinned(member, revision)) return undefined;
  return wait(member, 'Pinned', `${member.pinned.join(', ')} pinned by another manager`);
}

function holdWait(member: MemberState, { class: of }: Permission): Explanation | undefined {
  const { hold } = member;
  if (!hold || (hold.scope === 'Disruptive' && !isClassAtLeast(of, 'Restart'))) return undefined;
  return wait(member, 'Held', `held: ${hold.reason}`);
}

function silenceWait(member: MemberState): Explanation | undefined {
  return member.isSilent ? wait(member, 'AgentSilent', 'its agent is silent') : undefined;
}

/** A drain would wait for that cordon until the update fails. */
function cordonWait(member: MemberState, { class: of }: Permission): Explanation | undefined {
  const { cordonedFor } = member;
  if (cordonedFor === undefined || !isClassAtLeast(of, 'Drain')) return undefined;
  return wait(member, 'NodeCordoned', `its Node is cordoned for grant ${cordonedFor} of a repair`);
}

/** One act at a time: what is in work ends first, but for an act that takes it back, or one that replaces what failed. */
function grantWait(member: MemberState, { recovery }: Permission): Explanation | undefined {
  const { grant, holdsGrant, step } = member;
  const isReplaced = recovery || step === 'Failed';
  if (holdsGrant) return isReplaced ? undefined : wait(member, member.reason, member.because);
  if (!grant) return undefined;
  const { kind, name } = grant.holder;
  const because = `${member.name}: ${grant.action} of ${kind} ${name} is in work`;
  return { reason: 'MachineBusy', because, blocker: { kind, name } };
}

function wait({ name }: MemberState, reason: string, because: string): Explanation {
  return { reason, because: `${name}: ${because}`, blocker: { kind: 'Machine', name } };
}
