/** Decides which acts need a grant of the Defender, and when the one that is held is given back. Pure. */
import type { HostingAct, HostingDecision, HostingInput } from './input.ts';

const DISRUPTIVE: ReadonlySet<HostingAct['type']> = new Set([
  'BeginDestroy',
  'Stop',
  'Restart',
  'Change',
  'SetOutside',
  'RemoveEtcdMember',
  'Shrink',
  'Rotate',
  'Remove',
]);

/** Tells whether the act takes a control plane, or a part of it, out of service. */
export function needsGrant(act: HostingAct): boolean {
  return act.type === 'Correct' ? act.isDisruptive : DISRUPTIVE.has(act.type);
}

/** Replaces the decision by giving the grant back when the act that it permits is over: nothing else knows when that is. */
export function withSettlement(input: HostingInput, decision: HostingDecision): HostingDecision {
  if (!input.grant || !isActOver(input, decision)) return decision;
  return { act: { type: 'SettleGrant', because: 'the act that the Defender permitted is over' } };
}

/** While a control plane is destroyed, the grant is kept until nothing is left but the finalizer. */
function isActOver({ cluster, plane, refused }: HostingInput, { act }: HostingDecision): boolean {
  // What was refused is tried again, and keeps its grant.
  if (refused !== undefined) return false;
  if (act?.type === 'RemoveFinalizer') return true;
  if (cluster.metadata.deletionTimestamp !== undefined || (act && needsGrant(act))) return false;
  return plane.members.every(({ state }) => state === 'Ready');
}
