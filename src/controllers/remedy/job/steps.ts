/** Builds the steps of a rung as a job carries them out. Pure. */
import { RISKS, type Risk } from '../../../api/enums.ts';
import type { JobStep, RemedyStep, Rung } from '../../../api/generated/types.ts';
import { type Action, type Step, stepEntry, stepReference, undoOf } from '../../../api/steps/steps.ts';
import { optional } from '../../../kube/objects/optional.ts';

/** `s1`, `s2`, … of the plan, `v1`, `v2`, … of what follows verification. */
export function jobSteps(steps: readonly RemedyStep[], prefix: 's' | 'v'): readonly JobStep[] {
  return steps.map((step, index) => jobStep(step, `${prefix}${index + 1}`));
}

function jobStep({ step, with: input, ...limits }: RemedyStep, id: string): JobStep {
  const { executor, risk } = stepEntry(step);
  const undo = undoOf(step, input)?.step;
  const { timeoutSeconds, retries, onFailure, onTimeout } = limits;
  return {
    id,
    step: stepReference(step),
    executor,
    risk,
    ...(Object.keys(input).length > 0 ? { with: input } : {}),
    timeoutSeconds,
    retries,
    ...optional('undo', undo === undefined ? undefined : stepReference(undo)),
    onFailure,
    onTimeout,
  };
}

export function highestRisk({ plan }: Pick<Rung, 'plan'>): Risk {
  const risks = plan.map(({ step }) => riskOf(step));
  return RISKS.findLast((risk) => risks.includes(risk)) ?? 'None';
}

/** Returns the action that the grant is for: the first step with the highest risk. */
export function actionOf(rung: Pick<Rung, 'plan'>): Action {
  const highest = highestRisk(rung);
  return rung.plan.find(({ step }) => riskOf(step) === highest)?.step ?? 'HandOff';
}

function riskOf(step: Step): Risk {
  return stepEntry(step).risk;
}
