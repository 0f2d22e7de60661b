/** Plans what is left of the current step of a transition, and the step after it. Pure. */
import { type ComponentChange, changeBetween } from '../../../api/machine/component-change.ts';
import type { Transition, TransitionFailure, TransitionStep } from '../../journal/record.ts';
import type { Target } from '../../target/target.ts';
import type { ComponentInput } from '../input.ts';
import type { ComponentAction, ComponentPlan } from '../operation.ts';
import { operate, swapActions } from '../placements.ts';
import { advance, componentWait, endsOf, type KnownTargets, settle, toStep } from './builders.ts';
import { foreignUnits } from './foreign.ts';
import { planProbation } from './probation.ts';
import { goBack } from './rollback.ts';
import { planFetching, planStaged, planVerified } from './staging.ts';

const STEP_PLANS: Record<TransitionStep, (input: ComponentInput, transition: Transition) => ComponentPlan> = {
  Fetching: planFetching,
  Verified: planVerified,
  Staged: planStaged,
  Stopping: planStopping,
  Swapped: planSwapped,
  Rebooting: planRebooting,
  Starting: planStarting,
  Probation: planProbation,
};

export function planStep(input: ComponentInput, transition: Transition): ComponentPlan {
  return (
    damagePlan(input, transition) ??
    failurePlan(input, transition) ??
    rebootPlan(input, transition) ??
    STEP_PLANS[transition.step](input, transition)
  );
}

/** Plans for a goal that cannot be read. It is not the same as no goal: the component must not be removed in its place. */
function damagePlan(input: ComponentInput, transition: Transition): ComponentPlan | undefined {
  const { direction, from, to, entry } = transition;
  const goalId = direction === 'Forward' ? to : from;
  if (goalId === undefined || endsOf(input, transition).goal) return undefined;
  const failure = { code: 'TargetDamaged', message: 'the stored content of the version cannot be read' };
  if (direction === 'Forward') return goBack(input, transition, failure);
  const because = `the previous version cannot be restored: ${failure.message}`;
  return settle(input, { state: 'Failed', current: goalId, because }, { failure, denied: entry });
}

/** Plans what follows a failed operation. Before Stopping a failure changed nothing, and going back must succeed: both are tried again. */
function failurePlan(input: ComponentInput, transition: Transition): ComponentPlan | undefined {
  const { failure, now } = input;
  if (!failure) return undefined;
  const { step, direction } = transition;
  if (direction === 'Forward' && isActivation(step)) return goBack(input, transition, failure);
  if (direction === 'Back' && step === 'Starting' && failure.code === 'UnitFailed') {
    return startFailed(input, transition, failure);
  }
  if (failure.retryAt <= now) return undefined;
  return componentWait(
    'RetryPending',
    `${failure.message}. It is tried again at ${failure.retryAt.toISOString()}`,
  );
}

function startFailed(
  input: ComponentInput,
  transition: Transition,
  failure: TransitionFailure,
): ComponentPlan {
  if (transition.direction === 'Forward') return goBack(input, transition, failure);
  const because = `the previous version does not start: ${failure.message}`;
  const { code, message } = failure;
  return settle(
    input,
    { state: 'Failed', current: transition.from, because },
    { failure: { code, message }, denied: transition.entry },
  );
}

function isActivation(step: TransitionStep): boolean {
  return step !== 'Fetching' && step !== 'Verified' && step !== 'Staged';
}

/**
 * Plans what follows a reboot. After it the units run that were enabled, with the old or with the new content, so that nothing is assumed.
 */
function rebootPlan(input: ComponentInput, transition: Transition): ComponentPlan | undefined {
  const { step, bootId, boots, direction } = transition;
  const now = input.observed.bootId;
  if (bootId === now || !isActivation(step) || step === 'Rebooting') return undefined;
  if (step === 'Stopping' || step === 'Swapped') {
    return advance(input, [], {
      transition: toStep(transition, 'Stopping', now),
      because: `the machine rebooted during ${step}`,
    });
  }
  if (direction === 'Forward' && boots + 1 >= MAX_BOOTS) {
    const message = `the machine rebooted ${boots + 1} times before the version was committed`;
    return goBack(input, transition, { code: 'Rebooted', message });
  }
  return advance(input, [], {
    transition: { ...toStep(transition, 'Starting', now), boots: boots + 1 },
    because: `the machine rebooted during ${step}`,
  });
}

/** The number of reboots from which on the new version is blamed: one reboot may have another cause. */
const MAX_BOOTS = 2;

/** Returns the change of a transition. A repair restarts every unit and never reboots: it changes nothing but what was damaged. */
function transitionChange(input: KnownTargets, transition: Transition): ComponentChange {
  const { origin, goal } = endsOf(input, transition);
  if (transition.reinstall === undefined) return changeBetween(origin, goal);
  const stop = new Set(goal?.units.map(({ name }) => name));
  return { class: 'Restart', stop, reload: new Set(), because: 'the component is installed again' };
}

/** Returns the units of the goal that the transition does not start: they run since before it, as do those of the host itself. */
export function keptUnits(input: KnownTargets, transition: Transition): ReadonlySet<string> {
  const { origin, goal } = endsOf(input, transition);
  const { stop } = transitionChange(input, transition);
  const before = (goal?.units ?? []).filter(({ name, existing }) => existing || hasUnit(origin, name));
  return new Set(before.map(({ name }) => name).filter((name) => !stop.has(name)));
}

function planStopping(input: ComponentInput, transition: Transition): ComponentPlan {
  const { origin, goal } = endsOf(input, transition);
  const change = transitionChange(input, transition);
  const operations = [origin, goal].flatMap((target) =>
    (target?.units ?? [])
      .filter(({ name }) => change.stop.has(name) && (target === origin || !hasUnit(origin, name)))
      // A failed unit is stopped, too: a failure that is found after the start is one of the new version.
      .filter(({ name }) => !isInactive(input.observed.units.get(name)?.active))
      .map(({ name }) => operate({ op: 'StopUnit', target: target as Target, unit: name }, change.because)),
  );
  // A process that was started by another definition would be kept, and reported as this version.
  const foreign = foreignUnits(input, { origin, goal }).filter(({ name }) => !change.stop.has(name));
  const stops = foreign.map(({ name }) =>
    operate({ op: 'StopUnit', target: goal as Target, unit: name }, `unit ${name} of the host is replaced`),
  );
  return advance(input, [...operations, ...stops], {
    transition: toStep(transition, 'Swapped'),
    because: change.because,
  });
}

function hasUnit(target: Target | undefined, name: string): boolean {
  return target?.units.some((unit) => unit.name === name) ?? false;
}

function isInactive(active: string | undefined): boolean {
  return active === undefined || active === 'Inactive';
}

function planSwapped(input: ComponentInput, transition: Transition): ComponentPlan {
  const { origin, goal } = endsOf(input, transition);
  const operations = [
    ...(transition.reinstall !== undefined && goal?.artifact
      ? [operate({ op: 'Unpack', target: goal }, 'the component is installed again')]
      : []),
    ...swapActions(origin, goal, input.observed),
  ];
  if (!goal) return settleRemoved(input, transition, operations);
  const reboot = transitionChange(input, transition).class === 'Reboot';
  return advance(input, operations, {
    transition: toStep(transition, reboot ? 'Rebooting' : 'Starting'),
    because: 'files, links and units are in place',
  });
}

function settleRemoved(
  input: ComponentInput,
  transition: Transition,
  operations: readonly ComponentAction[],
): ComponentPlan {
  if (transition.direction === 'Forward') {
    return settle(input, { state: 'Absent', previous: transition.from, because: 'removed' }, { operations });
  }
  const { failure } = transition;
  return settle(
    input,
    { state: 'RolledBack', because: 'the first version failed: the host is as it was before' },
    { operations, denied: transition.entry, ...(failure && { failure }) },
  );
}

function planRebooting(input: ComponentInput, transition: Transition): ComponentPlan {
  const { bootId } = input.observed;
  if (bootId === transition.bootId) {
    return { actions: [operate({ op: 'Reboot' }, 'the change needs a reboot')] };
  }
  return advance(input, [], { transition: toStep(transition, 'Starting', bootId), because: 'rebooted' });
}

function planStarting(input: ComponentInput, transition: Transition): ComponentPlan {
  const { origin, goal } = endsOf(input, transition);
  if (!goal) return settleRemoved(input, transition, []);
  const change = transitionChange(input, transition);
  const stateOf = (name: string): string | undefined => input.observed.units.get(name)?.active;
  const failed = goal.units.find(
    ({ name, running }) =>
      running && stateOf(name) === 'Failed' && (change.stop.has(name) || !hasUnit(origin, name)),
  );
  if (failed) {
    const message = `unit ${failed.name} failed after it was started`;
    return startFailed(input, transition, { code: 'UnitFailed', message });
  }
  const reloads = goal.units
    .filter(({ name }) => change.reload.has(name) && stateOf(name) === 'Active')
    .map(({ name }) => operate({ op: 'ReloadUnit', target: goal, unit: name }, change.because));
  const starts = goal.units
    .filter(({ name, running }) => running && !['Active', 'Activating'].includes(stateOf(name) ?? ''))
    .map(({ name }) => operate({ op: 'StartUnit', target: goal, unit: name }, `unit ${name} does not run`));
  return advance(input, [...reloads, ...starts], {
    transition: toStep(transition, 'Probation'),
    because: 'started',
  });
}
