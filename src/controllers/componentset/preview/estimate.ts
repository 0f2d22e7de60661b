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
  input: RolloutInput,
  mode: RolloutMode,
  batches: readonly BatchMembers[],
): Date | undefined {
  const spent = spentMs(input, mode, batches);
  return spent && new Date(+input.now + spent.rounds * MACHINE_MS + spent.soakMs);
}

/** How long a rollout takes from its begin if nothing fails or waits. */
export interface RolloutDuration {
  /** Its soaks alone: machines may be done at once. */
  readonly shortestSeconds: number;
  /** With as long for each machine as it may take. */
  readonly longestSeconds: number;
}

/** Undefined where a person has to approve. */
export function estimateDuration(
  input: RolloutInput,
  mode: RolloutMode,
  batches: readonly BatchMembers[],
): RolloutDuration | undefined {
  const spent = spentMs(input, mode, batches);
  if (!spent) return undefined;
  const shortestSeconds = spent.soakMs / 1000;
  const { machineTimeoutSeconds } = input.set.spec.rollout;
  return { shortestSeconds, longestSeconds: shortestSeconds + spent.rounds * machineTimeoutSeconds };
}

interface SpentTime {
  /** How often machines of a batch are changed at the same time. */
  readonly rounds: number;
  readonly soakMs: number;
}

function spentMs(
  { set, members }: RolloutInput,
  mode: RolloutMode,
  batches: readonly BatchMembers[],
): SpentTime | undefined {
  const { gate, canary, maxUnavailable } = set.spec.rollout;
  const needsPerson = gate.approval !== 'None' || canary?.hold === true;
  if (mode === 'Forward' && needsPerson) return undefined;
  const atOnce = Math.max(1, resolveIntOrPercent(maxUnavailable, members.length));
  const rounds = batches.reduce((sum, batch) => sum + Math.ceil(batch.members.length / atOnce), 0);
  const soakMs = mode === 'Forward' ? gate.soakSeconds * 1000 * batches.length : 0;
  return { rounds, soakMs };
}
