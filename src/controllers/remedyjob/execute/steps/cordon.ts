/** Cordons the Node with the id of our grant. A cordon that was there before stays that of its owner. */
import type { RemedyOperationJob } from '../../../../api/generated/types.ts';
import { ANNOTATION_CORDONED_BY } from '../../../../api/names.ts';
import type { JsonPatchOperation } from '../../../../kube/controller/writes/declared-fields.ts';
import { pointerTo } from '../../../../kube/controller/writes/json-patch.ts';
import { planCordon } from '../../../../kube/drain/cordon.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { markOfJob } from '../../plan/guard.ts';
import { type CentralResult, type CentralRun, stepFailed, stepSucceeded, stepWaits } from './central-step.ts';

export async function runCordon(run: CentralRun): Promise<CentralResult> {
  const { observation, node, context, ports } = run;
  const plan = planCordonStep(observation.job, node, ports.jobOfGrant);
  if ('operations' in plan) {
    await context.patch(NODES, node, plan.operations);
    return stepSucceeded(plan.because);
  }
  if (plan.result !== 'Wait') {
    return plan.result === 'Done'
      ? stepSucceeded(plan.because)
      : stepFailed('UncordonedByPerson', plan.because);
  }
  const blocker = { kind: 'Node', name: node.metadata.name };
  return stepWaits(
    { reason: 'MachineBusy', message: plan.because, blocker, isBlocked: true },
    observation.now,
  );
}

export type CordonStepPlan = { readonly because: string } & (
  | { readonly operations: readonly JsonPatchOperation[] }
  | { readonly result: 'Done' | 'Refused' | 'Wait' }
);

/** The cordon of a job that has ended on this machine is taken over: the fault that it was for is the same or a worse one. */
export function planCordonStep(
  job: RemedyOperationJob,
  node: KubeObject,
  jobOfGrant: (id: string) => RemedyOperationJob | undefined,
): CordonStepPlan {
  const mark = markOfJob(job);
  const { state, because, operations } = planCordon(node, mark);
  if (state === 'None') return { operations, because: 'the node is cordoned' };
  if (state === 'UncordonedByPerson') return { result: 'Refused', because };
  if (state !== 'OtherOwner') return { result: 'Done', because };
  const grant = node.metadata.annotations?.[ANNOTATION_CORDONED_BY] ?? '';
  const owner = jobOfGrant(grant);
  if (!isEndedHere(owner, job)) return { result: 'Wait', because: `${because}: ${grant}` };
  const path = pointerTo('metadata', 'annotations', ANNOTATION_CORDONED_BY);
  const value = job.spec.grant.id;
  return { operations: [{ op: 'replace', path, value }], because: `taken over from ${owner?.metadata.name}` };
}

function isEndedHere(owner: RemedyOperationJob | undefined, { spec }: RemedyOperationJob): boolean {
  return owner?.status?.outcome !== undefined && owner.spec.node.uid === spec.node.uid;
}
