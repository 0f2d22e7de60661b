/** Turns a transition back after a failure. Pure. */
import type { Transition, TransitionFailure } from '../../journal/record.ts';
import type { ComponentInput } from '../input.ts';
import type { ComponentPlan } from '../operation.ts';
import { advance, endsOf, settle } from './builders.ts';

export function goBack(
  input: ComponentInput,
  transition: Transition,
  failure: TransitionFailure,
): ComponentPlan {
  const { goal } = endsOf(input, transition);
  const { from, to, reinstall } = transition;
  // A repair has no other version to return to. This version is not denied: it ran before.
  if (reinstall !== undefined) {
    const because = `the version in force could not be installed again: ${failure.message}`;
    return settle(input, { state: 'Failed', current: to, because }, { failure, reinstalled: reinstall });
  }
  if (goal?.rollbackSupported === false) {
    const because = `${failure.message}; this version cannot be rolled back`;
    return settle(
      input,
      { state: 'Failed', current: to, previous: from, because },
      { failure, denied: transition.entry },
    );
  }
  const { code, message } = failure;
  return advance(input, [], {
    transition: {
      ...transition,
      step: 'Stopping',
      direction: 'Back',
      bootId: input.observed.bootId,
      failure: { code, message },
    },
    because: message,
  });
}
