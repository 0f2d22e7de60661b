/** Removes our own taint; those of others stay. */
import type { StepInputs } from '../../../../api/generated/steps.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import { planUntaint } from '../../plan/owned-taints.ts';
import { type CentralResult, type CentralRun, stepSucceeded } from './central-step.ts';

export async function runUntaint(run: CentralRun<StepInputs['Untaint']>): Promise<CentralResult> {
  const { observation, node, context, input } = run;
  const isNamed = (id: string): boolean => id.startsWith(`${input.key}:`);
  const operations = planUntaint(node, observation.job.spec.grant.id, isNamed);
  if (operations.length === 0) return stepSucceeded('we have set no such taint');
  await context.patch(NODES, node, operations);
  return stepSucceeded('our taint was removed');
}
