/** Removes our own cordon; that of a person stays. */
import { planUncordon } from '../../../../kube/drain/cordon.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import { markOfJob } from '../../plan/guard.ts';
import { type CentralResult, type CentralRun, stepSucceeded } from './central-step.ts';

export async function runUncordon({ observation, node, context }: CentralRun): Promise<CentralResult> {
  const { operations, because } = planUncordon(node, markOfJob(observation.job));
  if (operations.length === 0) return stepSucceeded(`nothing to do: ${because}`);
  await context.patch(NODES, node, operations);
  return stepSucceeded('our cordon was removed');
}
