/** Whether a Pipeline, a Cluster or automation is stopped, by git or by a person. Pure. */
import type { ObjectId } from '../../kube/objects/object-id.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Cluster, ClusterPause, KillSwitch, Pipeline, PipelineHalt } from '../generated/types.ts';

/** Tells whether a kill switch stops anything: of a DefenderPolicy, of a FleetPolicy, or of an allowance. */
export function isEngaged({ engaged, until }: Pick<KillSwitch, 'engaged' | 'until'>, now: Date): boolean {
  return engaged && (until === undefined || Date.parse(until) > +now);
}

/** Returns who engaged the switch for one of these scopes, and why; undefined: it stops none of them. */
export function stopText(
  { scope, by = 'unknown', reason = 'no reason given', ...rest }: KillSwitch,
  scopes: readonly KillSwitch['scope'][],
  now: Date,
): string | undefined {
  return scopes.includes(scope) && isEngaged(rest, now) ? `${by}: ${reason}` : undefined;
}

/** A halt of all Pipelines, which is in none of them. */
export interface FleetHalt extends PipelineHalt {
  /** The command that ends it. */
  readonly resume: string;
}

/** Undefined while the Pipeline may be promoted. The stop of a person comes first: no commit lifts it. */
export function pausedReason({
  metadata: { name },
  spec: { halt, paused },
}: Pick<Pipeline, 'metadata' | 'spec'>): string | undefined {
  if (halt) {
    const resume = isOfFleet(halt) ? halt.resume : `kubenode release resume ${name}`;
    return `pipeline ${name} was halted by ${halt.by}: ${halt.reason}. To continue, run: ${resume}`;
  }
  return paused ? `pipeline ${name} is paused (spec.paused)` : undefined;
}

function isOfFleet(halt: PipelineHalt | FleetHalt): halt is FleetHalt {
  return 'resume' in halt;
}

/** A pause of the whole cluster. */
export function activePause(cluster: Pick<Cluster, 'spec'>, now: Date): ClusterPause | undefined {
  return activePauses(cluster, now).find(({ unit, object }) => unit === undefined && object === undefined);
}

/** Contains the parts of a cluster that a person paused, each with how to resume it, who paused it, since when and why. */
export interface PausedParts {
  readonly pausedUnits?: ReadonlyMap<string, string>;
  /** The keys are as `pausedObjectName` returns them. */
  readonly pausedObjects?: ReadonlyMap<string, string>;
}

/** Returns the paused parts. A part that two pauses name has the text of the last one. */
export function pausedParts(
  cluster: Pick<Cluster, 'metadata' | 'spec'>,
  pipeline: string,
  now: Date,
): PausedParts {
  const { name } = cluster.metadata;
  const units = new Map<string, string>();
  const objects = new Map<string, string>();
  for (const pause of activePauses(cluster, now)) {
    const { unit, object } = pause;
    const part = object ?? unit;
    if (part === undefined) continue;
    // The hint comes first: a status truncates the end.
    const resume = `kubenode release resume ${pipeline} --cluster ${name} ${pauseFlag(pause)}`;
    const texts = object === undefined ? units : objects;
    texts.set(part, `to resume it, run ${resume}; ${pauseText(pause)}`);
  }
  return {
    ...optional('pausedUnits', units.size > 0 ? units : undefined),
    ...optional('pausedObjects', objects.size > 0 ? objects : undefined),
  };
}

/** Returns the flag of `kubenode release halt` and `resume` that names the paused part. Empty for the whole cluster. */
export function pauseFlag({ unit, object }: Pick<ClusterPause, 'unit' | 'object'>): string {
  if (object !== undefined) return `--object ${object}`;
  return unit === undefined ? '' : `--unit ${unit}`;
}

/** Returns the name of an object in `spec.pauses`. It has no API group, so a pause holds in every group that has the kind. */
export function pausedObjectName({ kind, namespace, name }: Omit<ObjectId, 'group'>): string {
  return namespace === '' ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

/** `paused by anna since TIME until TIME: ticket 7`. */
export function pauseText({ by, since, until, reason }: ClusterPause): string {
  const times = [since === undefined ? '' : ` since ${since}`, until === undefined ? '' : ` until ${until}`];
  return `paused by ${by}${times.join('')}: ${reason}`;
}

/** Returns the pauses that have not ended. */
export function activePauses({ spec }: Pick<Cluster, 'spec'>, now: Date): readonly ClusterPause[] {
  return spec.pauses.filter(({ until }) => until === undefined || new Date(until) > now);
}

/** Returns when the first of the active pauses ends by itself. */
export function firstPauseEnd(cluster: Pick<Cluster, 'spec'>, now: Date): Date | undefined {
  const ends = activePauses(cluster, now).flatMap(({ until }) =>
    until === undefined ? [] : [+new Date(until)],
  );
  return ends.length === 0 ? undefined : new Date(Math.min(...ends));
}
