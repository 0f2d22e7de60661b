/**
 * Decides what one component does next. A transition to another version comes first; the version in force is kept as it was
 * committed while a transition waits, and when there is none. Pure.
 */
import { optional } from '../../kube/objects/optional.ts';
import type { Target } from '../target/target.ts';
import { type DriftFinding, planDrift, type ReconcilePlan } from './drift/plan.ts';
import type { ComponentInput } from './input.ts';
import type { ComponentPlan, ComponentWait } from './operation.ts';
import { type AdoptionDifference, openDifferences } from './transition/adoption.ts';
import { hasStopped, planTransition } from './transition/plan.ts';

export function planComponent(input: ComponentInput): ReconcilePlan {
  const transition = planTransition(input);
  const target = targetInForce(input);
  if (transition.actions.length > 0 || !target) {
    const wait = transition.wait ?? damageWait(input, transition);
    return { ...transition, ...optional('wait', wait), findings: openDifferences(input).map(reported) };
  }
  const drift = planDrift(input, target);
  return { ...drift, ...optional('wait', transition.wait ?? drift.wait) };
}

function reported(difference: AdoptionDifference): DriftFinding {
  return { ...difference, action: 'Reported' };
}

function targetInForce({ progress, targets }: ComponentInput): Target | undefined {
  const { current, transition } = progress;
  if (current === undefined || (transition && hasStopped(transition))) return undefined;
  return targets.get(current);
}

/** Nothing can be kept right of a version whose content is not known. */
function damageWait({ progress }: ComponentInput, { actions }: ComponentPlan): ComponentWait | undefined {
  const { current, transition } = progress;
  if (actions.length > 0 || current === undefined || transition) return undefined;
  return {
    reason: 'TargetDamaged',
    message:
      'the stored content of the version in force cannot be read: name that version in the Machine again',
  };
}
