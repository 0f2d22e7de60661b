/** Edits the entries of `spec.pauses` of a Cluster that `kubenode release halt` and `resume` write. Pure. */
import type { Cluster, ClusterPause } from '../../../api/generated/types.ts';
import { MAX_UNITS } from '../../../sync/promote/cluster/record.ts';
import { CliError, EXIT } from '../../errors.ts';

type Pauses = readonly ClusterPause[];

/** The name of the entry. */
const PAUSE = 'release-halt';

export interface PauseRequest {
  /** The unit to pause. Absent: the whole cluster. */
  readonly unit?: string;
  readonly by: string;
  readonly reason: string;
  readonly since: string;
}

/** Adds a pause. A second halt of the same unit replaces the first one. The pauses of others stay. */
export function withPause(pauses: Pauses, { unit, ...request }: PauseRequest): Pauses {
  const name = unit === undefined ? PAUSE : `${PAUSE}.${unit}`;
  const others = pauses.filter((pause) => pause.name !== name);
  return [...others, { name, ...(unit === undefined ? {} : { unit }), ...request }];
}

/**
 * Removes the pause of the cluster or, of a unit, every pause, even one that another client wrote: the status names this command for each.
 */
export function withoutPause(pauses: Pauses, unit: string | undefined): Pauses {
  return pauses.filter((pause) =>
    unit === undefined ? pause.name !== PAUSE : pause.unit !== unit || pause.object !== undefined,
  );
}

/** Throws if the cluster has no such unit: a misspelt name would pause nothing. A unit that only a pause names can be resumed. */
export function checkUnit({ metadata, spec, status }: Cluster, unit: string): void {
  const { units = [] } = status?.sync ?? {};
  const known = [...new Set([...units, ...spec.pauses.flatMap((pause) => pause.unit ?? [])])].toSorted();
  if (known.includes(unit) || units.length >= MAX_UNITS) return;
  throw new CliError(`cluster ${metadata.name} has no unit ${unit}`, {
    hint:
      known.length > 0
        ? `use one of: ${known.join(', ')}`
        : 'sync has not recorded its units yet: check kubenode status, and that kubenode sync is running',
    exitCode: EXIT.badInput,
  });
}
