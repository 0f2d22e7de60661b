/** Decides whether a started version is kept. Durations are monotonic, so no clock jump commits or rolls back. Pure. */
import { optional } from '../../../kube/objects/optional.ts';
import type { Transition, TransitionFailure } from '../../journal/record.ts';
import type { ComponentInput, ProbationProgress } from '../input.ts';
import type { ComponentPlan } from '../operation.ts';
import { componentWait, endsOf, settle } from './builders.ts';
import { goBack } from './rollback.ts';

/** A slow start is not a failure: probes may take this long, or as long as they must hold, before they pass once. */
const START_SECONDS = 60;

export function planProbation(input: ComponentInput, transition: Transition): ComponentPlan {
  const { probation } = input;
  if (!probation) return componentWait('ProbesPending', 'started: no probe has run yet');
  const holdSeconds = requiredSeconds(input, transition);
  const failure = probation.failure ?? timeoutFailure(probation, Math.max(START_SECONDS, holdSeconds));
  if (failure) return failed(input, transition, failure);
  const { passingMs } = probation;
  if (passingMs !== undefined && passingMs >= holdSeconds * 1000) return passed(input, transition);
  return componentWait('ProbesPending', pendingText(probation, holdSeconds));
}

/** The previous version proved itself before: after a rollback it must be healthy once. */
function requiredSeconds(input: ComponentInput, transition: Transition): number {
  return transition.direction === 'Back' ? 0 : (endsOf(input, transition).goal?.commitAfterSeconds ?? 0);
}

function timeoutFailure(
  { elapsedMs, passingMs, pending }: ProbationProgress,
  limitSeconds: number,
): TransitionFailure | undefined {
  if (passingMs !== undefined || elapsedMs < limitSeconds * 1000) return undefined;
  return { code: 'ProbeTimeout', message: `not healthy after ${limitSeconds} s: ${pending.join('; ')}` };
}

function pendingText({ passingMs, pending }: ProbationProgress, holdSeconds: number): string {
  if (passingMs === undefined) return `waits for probes: ${pending.join('; ')}`;
  // Without the time that has passed: the text is reported, and must not change each second.
  return `every probe passes: the version is kept after ${holdSeconds} s`;
}

function passed(input: ComponentInput, transition: Transition): ComponentPlan {
  const { from, to, direction, failure, reinstall } = transition;
  if (direction === 'Forward') {
    const because = 'every probe passed long enough';
    const committed = { state: 'Committed', current: to, previous: from, because } as const;
    return settle(input, committed, optional('reinstalled', reinstall));
  }
  return settle(
    input,
    { state: 'RolledBack', current: from, because: 'the previous version is healthy' },
    { denied: transition.entry, ...(failure && { failure }) },
  );
}

/** A second failure does not turn again: both versions stay on the host for a person. */
function failed(input: ComponentInput, transition: Transition, failure: TransitionFailure): ComponentPlan {
  const { from, direction } = transition;
  if (direction === 'Forward') return goBack(input, transition, failure);
  const because = `the previous version is not healthy either: ${failure.message}`;
  return settle(input, { state: 'Failed', current: from, because }, { failure, denied: transition.entry });
}
