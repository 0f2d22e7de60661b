/** Adds a taint that is recorded with our grant. One that was there before stays that of its owner. */
import type { StepInputs } from '../../../../api/generated/steps.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { planTaint, taintState } from '../../plan/owned-taints.ts';
import { type CentralResult, type CentralRun, stepSucceeded } from './central-step.ts';

export async function runTaint(run: CentralRun<StepInputs['Taint']>): Promise<CentralResult> {
  const { observation, node, context, input } = run;
  const { id } = observation.job.spec.grant;
  const taint = { key: input.key, effect: input.effect, ...optional('value', input.value) };
  const state = taintState(node, taint, id);
  if (state === 'Foreign') return stepSucceeded('the node had the taint before');
  if (state === 'Ours') return stepSucceeded('the taint is set');
  await context.patch(NODES, node, planTaint(node, taint, id));
  return stepSucceeded('the taint is set');
}
