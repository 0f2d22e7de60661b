/** When a rollout would end if nothing fails or waits. Pure. */
import { resolveIntOrPercent } from '../../../rollout/int-or-percent.ts';
import type { MemberState } from '../machine/member-state.ts';
import type { RolloutInput, RolloutMode } from '../rollout/input.ts';

export interface BatchMembers {
  readonly index: number;
  readonly members: readonly MemberState[];
}

/** To fetch, activate and prove one machine: the default of commitAfterSeconds, and as long again for the rest. */
const MACHINE_MS = 120_000;

/** Undefined where a person has to approve. */
export function estimateEnd(
  { set, members, now }: RolloutInput,
  mode: RolloutMode,
  batches: readonly BatchMembers[],
): Date | undefined {
  const { gate, canary, maxUnavailable } = set.spec.rollout;
  const needsPerson = gate.approval !== 'None' || canary?.hold === true;
  if (mode === 'Forward' && needsPerson) return undefined;
  const atOnce = Math.max(1, resolveIntOrPercent(maxUnavailable, members.length));
  const soakMs = mode === 'Forward' ? gate.soakSeconds * 1000 : 0;
  const spentMs = batches.map((batch) => Math.ceil(batch.members.length / atOnce) * MACHINE_MS + soakMs);
  return new Date(spentMs.reduce((end, ms) => end + ms, +now));
}
