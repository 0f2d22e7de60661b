/** Reads from the jobs of a machine whether they are at work, and when they began and ended. Pure. */
import type { RemedyOperationJob } from '../../../api/generated/types.ts';
import { FINALIZER_SETTLE } from '../../../api/names.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';

/** Tells whether a job may still act, or has not given back its cordon and its grant. */
export function isJobAtWork({ status, metadata }: RemedyOperationJob): boolean {
  return status?.outcome === undefined || (metadata.finalizers ?? []).includes(FINALIZER_SETTLE);
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
