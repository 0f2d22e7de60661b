/** Reports what the builtin checks of a set find in its open batch, in the form of the runs of other checks. Pure. */
import type { GateRuns } from '../../../api/generated/types.ts';
import type { MemberState } from '../machine/member-state.ts';
import { startedIn, unsettled } from '../rollout/batch-phase.ts';
import { failedMembers } from '../rollout/failure/failure.ts';
import { unknownMembers } from '../rollout/failure/unknown-health.ts';
import type { RolloutInput, RolloutPlan } from '../rollout/input.ts';

/** Returns no healthy run before the batch is settled: until then the check has nothing to look at. */
export function builtinRuns(input: RolloutInput, { progress }: Pick<RolloutPlan, 'progress'>): GateRuns[] {
  const found = healthOf(input, progress);
  if (!found) return [];
  const run = { ...found, ranAt: input.now.toISOString() };
  return input.set.spec.rollout.gate.checks
    .filter(({ builtin }) => builtin)
    .map(({ name }) => ({ name, ...run }));
}

function healthOf(
  input: RolloutInput,
  progress: RolloutPlan['progress'],
): Pick<GateRuns, 'result' | 'message'> | undefined {
  const started = progress.batch ? startedIn(input, progress, progress.batch) : [];
  const [failed] = failedMembers(started, progress);
  if (failed) return { result: 'Failed', message: messageOf(failed) };
  const [unknown] = unknownMembers(input, progress);
  if (unknown) return { result: 'Unknown', message: messageOf(unknown) };
  if (started.length === 0 || unsettled(started).length > 0) return undefined;
  return { result: 'Passed', message: passedMessage(started) };
}

function passedMessage(started: readonly MemberState[]): string {
  const before = started.find(({ step, reason }) => step === 'Settled' && reason === 'UnhealthyBefore');
  const named = before ? `; ${messageOf(before)}` : '';
  const differing = started.filter(({ step }) => step === 'Differs').length;
  const unproven = differing === started.length ? ', so nothing is proven' : '';
  const left = differing > 0 ? `; left as their hosts are: ${differing}${unproven}` : '';
  return `healthy: ${started.length - differing}${left}${named}`;
}

function messageOf({ name, because }: MemberState): string {
  return `${name}: ${because}`;
}
