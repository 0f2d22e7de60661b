/** Whether a Pipeline or a Cluster is stopped, by git or by a person. Pure. */
import type { Cluster, ClusterPause, Pipeline } from '../../api/generated/types.ts';

/** Undefined while the Pipeline may be promoted. The stop of a person comes first: no commit lifts it. */
export function pausedReason({
  metadata: { name },
  spec: { halt, paused },
}: Pick<Pipeline, 'metadata' | 'spec'>): string | undefined {
  if (halt) {
    return `pipeline ${name} was halted by ${halt.by}: ${halt.reason}. To continue, run: kubenode release resume ${name}`;
  }
  return paused ? `pipeline ${name} is paused (spec.paused)` : undefined;
}

/** A pause of the whole cluster. Pauses of a unit or an object are not implemented yet. */
export function activePause({ spec }: Pick<Cluster, 'spec'>, now: Date): ClusterPause | undefined {
  return spec.pauses.find(
    ({ unit, object, until }) => !unit && !object && (until === undefined || new Date(until) > now),
  );
}
