/** Whether a Pipeline or a Cluster is stopped, by git or by a person. Pure. */
import type { Cluster, ClusterPause, Pipeline } from '../generated/types.ts';

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

/** A pause of the whole cluster. */
export function activePause(cluster: Pick<Cluster, 'spec'>, now: Date): ClusterPause | undefined {
  return activePauses(cluster, now).find(({ unit }) => unit === undefined);
}

/** The units that a person paused, each with how to resume it, who paused it, since when and why. */
export function pausedUnits(
  cluster: Pick<Cluster, 'metadata' | 'spec'>,
  pipeline: string,
  now: Date,
): ReadonlyMap<string, string> | undefined {
  const { name } = cluster.metadata;
  const units = activePauses(cluster, now).flatMap((pause) => {
    if (pause.unit === undefined) return [];
    // The hint comes first: a status truncates the end.
    const resume = `kubenode release resume ${pipeline} --cluster ${name} --unit ${pause.unit}`;
    return [[pause.unit, `to resume it, run ${resume}; ${pauseText(pause)}`] as const];
  });
  return units.length === 0 ? undefined : new Map(units);
}

/** `paused by anna since TIME: ticket 7`. */
export function pauseText({ by, since, reason }: ClusterPause): string {
  return `paused by ${by}${since === undefined ? '' : ` since ${since}`}: ${reason}`;
}

/** No pause of an object: that is not implemented. */
export function activePauses({ spec }: Pick<Cluster, 'spec'>, now: Date): readonly ClusterPause[] {
  return spec.pauses.filter(
    ({ object, until }) => object === undefined && (until === undefined || new Date(until) > now),
  );
}
