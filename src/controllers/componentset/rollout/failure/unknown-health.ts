/** Counts how often the builtin check found the health of the open batch unknown. Too often stops the rollout for a person. Pure. */
import type { Check } from '../../../../api/generated/types.ts';
import type { Explanation } from '../../../../rollout/explanation.ts';
import type { MemberState } from '../../machine/member-state.ts';
import { startedIn } from '../batch-phase.ts';
import type { OpenBatch, RolloutInput, RolloutProgress } from '../input.ts';

/** Runs that know it are not remembered: only those without a result count, and health that comes and goes counts on. */
export function countUnknownHealth(input: RolloutInput, progress: RolloutProgress): RolloutProgress {
  const { batch, stopped } = progress;
  const check = strictestCheck(input);
  if (!batch || stopped || !check || unknownMembers(input, progress).length === 0) return progress;
  if (!isDue(batch, check, input.now)) return progress;
  const inconclusive = (batch.inconclusive ?? 0) + 1;
  return { ...progress, batch: { ...batch, inconclusive, inconclusiveAt: input.now } };
}

function isDue({ inconclusiveAt }: OpenBatch, { intervalSeconds }: Check, now: Date): boolean {
  if (!inconclusiveAt) return true;
  const elapsedMs = +now - +inconclusiveAt;
  // A run in the future was before a clock that was set back.
  return elapsedMs < 0 || elapsedMs >= intervalSeconds * 1000;
}

export function unknownHealthReason(input: RolloutInput, progress: RolloutProgress): Explanation | undefined {
  const check = strictestCheck(input);
  const { inconclusive = 0 } = progress.batch ?? {};
  if (!check || inconclusive <= check.inconclusiveLimit) return undefined;
  const [first] = unknownMembers(input, progress);
  const found = first ? `${first.name}: ${first.because}` : 'it is known again now';
  return {
    reason: 'HealthUnknown',
    because: `check ${check.name}: runs without a result: ${inconclusive}, allowed: ${check.inconclusiveLimit}. ${found}`,
    ...(first && { blocker: { kind: 'Machine', name: first.name } }),
  };
}

/** Runs before a person resumed the rollout do not count again. */
export function withoutUnknownRuns(progress: RolloutProgress): RolloutProgress {
  if (progress.batch?.inconclusive === undefined) return progress;
  const { inconclusive: _inconclusive, inconclusiveAt: _inconclusiveAt, ...batch } = progress.batch;
  return { ...progress, batch };
}

/** While a machine is updated, its time limit decides instead: a reboot is silent too. */
export function unknownMembers(input: RolloutInput, progress: RolloutProgress): readonly MemberState[] {
  const { batch } = progress;
  const started = batch ? startedIn(input, progress, batch) : [];
  return started.filter(({ step, holdsGrant, hold }) => step === 'Unknown' && !holdsGrant && !hold);
}

/** Several builtin checks find the same. A set without one waits as long as the health is unknown. */
function strictestCheck({ set }: RolloutInput): Check | undefined {
  const builtin = set.spec.rollout.gate.checks.filter((check) => check.builtin);
  return builtin.toSorted((a, b) => secondsOf(a) - secondsOf(b))[0];
}

function secondsOf({ intervalSeconds, inconclusiveLimit }: Check): number {
  return intervalSeconds * inconclusiveLimit;
}
