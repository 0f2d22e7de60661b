/** Reads from the jobs of a machine whether they are at work, and when they began and ended. Pure. */
import type { RemedyOperationJob } from '../../../api/generated/types.ts';
import { FINALIZER_SETTLE } from '../../../api/names.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';

/** Tells whether a job may still act, or has not given back its cordon and its grant. */
export function isJobAtWork({ status, metadata }: RemedyOperationJob): boolean {
  return status?.outcome === undefined || (metadata.finalizers ?? []).includes(FINALIZER_SETTLE);
}

/** Returns the jobs of one rule on one Node, oldest first. */
export function jobsOfRule(
  jobs: readonly RemedyOperationJob[],
  rule: string,
  nodeUID: string,
): readonly RemedyOperationJob[] {
  return jobs
    .filter(({ spec }) => spec.cause.remedier === rule && spec.node.uid === nodeUID)
    .toSorted(byBegin);
}

/** Tells whether the fault had cleared at the end of the job. */
export function hasCleared({ status }: RemedyOperationJob): boolean {
  const { class: kind, reason } = status?.outcome ?? {};
  return kind === 'Succeeded' || kind === 'Superseded' || reason === 'RuleRefuted';
}

/** Returns when a job ended, as exactly as it is known; of one that has not ended, when it must. */
export function endOf({ spec, status }: RemedyOperationJob): Date {
  const settled = conditionOf(status?.conditions, 'Settled');
  const transition = settled?.status === 'True' ? settled.lastTransitionTime : undefined;
  return new Date(status?.timeline?.settledAt ?? transition ?? spec.deadline);
}

export function beginOf({ spec }: RemedyOperationJob): Date {
  return new Date(spec.grant.issuedAt);
}

/** Compares jobs: oldest first; of one case, by rung and attempt. */
export function byBegin(a: RemedyOperationJob, b: RemedyOperationJob): number {
  return (
    +beginOf(a) - +beginOf(b) || a.spec.rung.index - b.spec.rung.index || a.spec.attempt - b.spec.attempt
  );
}
