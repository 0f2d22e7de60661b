/** Reads what a repair job is judged by: its machine, its Node, and what the facts say about its rule now. */
import { MACHINES, REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../api/generated/types.ts';
import { jobWithGrant } from '../../../api/machine/jobs.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { JobEvaluator, JobTruth } from './rule.ts';

export interface JobInput extends JobTruth {
  readonly job: RemedyOperationJob;
  /** The Machine with the name in the job; it may be another one by now. */
  readonly machine: Machine | undefined;
  readonly node: KubeObject | undefined;
  readonly now: Date;
}

export async function observeJob(
  job: RemedyOperationJob,
  remedier: NodeRemedier | undefined,
  { evaluator, context }: { readonly evaluator: JobEvaluator; readonly context: ReconcileContext },
): Promise<JobInput> {
  const { name } = job.spec.machine;
  const truth = await evaluator.evaluate(job, remedier);
  const machines = context.view<Machine>(MACHINES);
  return {
    job,
    machine: machines.get(name),
    node: context.view(NODES).get(name),
    ...truth,
    ...(isOtherReplacement(job, machines) ? { verified: 'Unknown' as const } : {}),
    now: context.clock.now(),
  };
}

/** Tells whether the machine that took the place was deleted, or is another one by now. */
function isOtherReplacement(
  { status }: RemedyOperationJob,
  machines: { readonly get: (name: string) => Machine | undefined },
): boolean {
  const { machine, uid } = status?.replacement ?? {};
  return machine !== undefined && machines.get(machine)?.metadata.uid !== uid;
}

export function jobOfGrant(grant: string, context: ReconcileContext): RemedyOperationJob | undefined {
  return jobWithGrant(grant, context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS));
}
