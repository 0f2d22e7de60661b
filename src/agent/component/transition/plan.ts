/**
 * Decides what one component does next: from the target in force to the desired one, over fetch, verify, stage, stop,
 * swap, start and probation, or back. Pure. A plan is a list of operations followed by the record of the next step, so
 * that each step is durable before it begins, and what is found done is not repeated.
 */
import { optional } from '../../../kube/objects/optional.ts';
import type { Transition } from '../../journal/record.ts';
import { AGENT_COMPONENT } from '../../layout.ts';
import type { ComponentInput } from '../input.ts';
import type { ComponentPlan } from '../operation.ts';
import { operate } from '../placements.ts';
import { advance, componentWait, settle } from './builders.ts';
import { mismatchWait } from './dependencies.ts';
import { planHandOver } from './hand-over.ts';
import { planStep } from './steps.ts';

const NOTHING: ComponentPlan = { actions: [] };

export function planTransition(input: ComponentInput): ComponentPlan {
  const { transition } = input.progress;
  if (transition && hasStopped(transition)) {
    return input.component === AGENT_COMPONENT
      ? planHandOver(input, transition)
      : planStep(input, transition);
  }
  const next = desiredTransition(input);
  if ('plan' in next) return transition ? abandon(input) : withMismatch(input, next.plan);
  return isUnderWay(transition, next) ? planStep(input, transition) : begin(input, next);
}

/** From Stopping on the host is between two targets: this transition ends before another one begins. */
export function hasStopped({ step }: Transition): boolean {
  return step !== 'Fetching' && step !== 'Verified' && step !== 'Staged';
}

type DesiredTransition = Pick<Transition, 'entry' | 'from' | 'to' | 'step' | 'reinstall'>;
type NextTransition = DesiredTransition | { readonly plan: ComponentPlan };

function isUnderWay(transition: Transition | undefined, next: DesiredTransition): transition is Transition {
  if (transition === undefined || transition.reinstall !== next.reinstall) return false;
  return transition.to === next.to && transition.from === next.from;
}

function begin(input: ComponentInput, next: DesiredTransition): ComponentPlan {
  return advance(input, [], {
    transition: { ...next, direction: 'Forward', bootId: input.observed.bootId, boots: 0 },
    because: beginReason(next),
  });
}

function beginReason({ to, reinstall }: DesiredTransition): string {
  if (reinstall !== undefined) return 'a repair job installs the version in force again';
  return to === undefined ? 'the component is to be removed' : 'another version is desired';
}

function desiredTransition(input: ComponentInput): NextTransition {
  const { desired, progress } = input;
  if (desired.state === 'Present') return presentTransition(input, desired.target.id, desired.target.ref);
  if (desired.state === 'Absent') return absentTransition(input, desired.id);
  if (desired.state === 'Invalid') return { plan: componentWait('InvalidEntry', desired.message) };
  if (progress.current === undefined) return { plan: NOTHING };
  const kept = 'the entry was removed from the Machine: the component is kept';
  return { plan: componentWait('Orphaned', kept) };
}

function presentTransition(input: ComponentInput, to: string, ref: string): NextTransition {
  const { current: from, state, denied } = input.progress;
  if (from === to && isReinstallDue(input)) {
    return { entry: to, from, to, step: 'Fetching', ...optional('reinstall', input.reinstall) };
  }
  if (denied.includes(to)) return { plan: deniedWait(input, ref) };
  if (from !== to || state === 'Failed') {
    return { entry: to, ...(from !== undefined && { from }), to, step: 'Fetching' };
  }
  return { plan: keep(input, to, ref) };
}

/** A failure that is denied is reported as the error of the component, too. */
function withMismatch(input: ComponentInput, plan: ComponentPlan): ComponentPlan {
  const isSettled = plan.actions.length === 0 && (!plan.wait || plan.wait.reason === 'Denied');
  return isSettled ? { ...plan, ...optional('wait', mismatchWait(input) ?? plan.wait) } : plan;
}

/** The version in force is the desired one. */
function keep(input: ComponentInput, current: string, ref: string): ComponentPlan {
  if (!input.targets.has(current)) return storeAgain(input, ref);
  if (input.progress.state === 'Committed') return NOTHING;
  const because = 'the version in force is the desired one';
  return settle(input, { state: 'Committed', current, because });
}

/** A version whose stored content was damaged is known from the Machine. */
function storeAgain({ desired }: ComponentInput, ref: string): ComponentPlan {
  if (desired.state !== 'Present') return NOTHING;
  const operation = { op: 'StoreTarget', target: desired.target } as const;
  return { actions: [operate(operation, `the stored content of ${ref} is damaged`)] };
}

/** Tells whether a reinstall is due: it is done once for each step of a job. */
function isReinstallDue({ reinstall, progress }: ComponentInput): boolean {
  return reinstall !== undefined && progress.reinstalled !== reinstall;
}

function absentTransition(input: ComponentInput, entry: string): NextTransition {
  const { current: from, denied } = input.progress;
  if (from === undefined) return { plan: NOTHING };
  if (denied.includes(entry)) return { plan: deniedWait(input, 'the removal') };
  return { entry, from, step: 'Staged' };
}

function deniedWait({ progress }: ComponentInput, what: string): ComponentPlan {
  const why = progress.failure ? `: ${progress.failure.message}` : '';
  return componentWait(
    'Denied',
    `${what} failed on this machine${why}. Change the entry, or set spec.retryToken to try again`,
  );
}

/** Nothing was activated yet: the component is as it was. */
function abandon(input: ComponentInput): ComponentPlan {
  const { current, state, failure } = input.progress;
  const because = 'the target is no longer desired';
  return settle(input, { state, current, because }, failure ? { failure } : {});
}
