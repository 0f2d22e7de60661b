/** When a rollout would end if nothing fails or waits. Pure. */
import { resolveIntOrPercent } from '../../../rollout/int-or-percent.ts';
import type { MemberState } from '../machine/member-state.ts';
import { domainOf, type SpreadUse, spreadUse } from '../rollout/choice/spread.ts';
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
  input: RolloutInput,
  mode: RolloutMode,
  batches: readonly BatchMembers[],
): SpentTime | undefined {
  const { set, members } = input;
  const { gate, canary, maxUnavailable } = set.spec.rollout;
  const needsPerson = gate.approval !== 'None' || canary?.hold === true;
  if (mode === 'Forward' && needsPerson) return undefined;
  const atOnce = Math.max(1, resolveIntOrPercent(maxUnavailable, members.length));
  const spread = mode === 'Forward' ? spreadUse(input) : undefined;
  const rounds = batches.reduce((sum, batch) => sum + roundsOf(batch, atOnce, spread), 0);
  const soakMs = mode === 'Forward' ? gate.soakSeconds * 1000 * batches.length : 0;
  return { rounds, soakMs };
}

/** The fullest domain of a batch takes as many rounds as it has machines for each that may be in work there. */
function roundsOf({ members }: BatchMembers, atOnce: number, spread: SpreadUse | undefined): number {
  const rounds = Math.ceil(members.length / atOnce);
  if (!spread) return rounds;
  const domains = Map.groupBy(members, (member) => domainOf(spread, member));
  const fullest = Math.max(0, ...[...domains.values()].map(({ length }) => length));
  return Math.max(rounds, Math.ceil(fullest / Math.max(1, spread.most)));
}
