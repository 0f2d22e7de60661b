/** Edits the entries of `spec.pauses` of a Cluster that `kubenode release halt` and `resume` write. Pure. */
import { InvalidArgumentError } from 'commander';
import type { Cluster, ClusterPause } from '../../../api/generated/types.ts';
import { PAUSED_OBJECT } from '../../../api/patterns.ts';
import { digestOf } from '../../../kube/objects/digest.ts';
import { MAX_UNITS } from '../../../sync/promote/cluster/record.ts';
import { CliError, EXIT } from '../../errors.ts';

type Pauses = readonly ClusterPause[];

/** The name of the entry. */
const PAUSE = 'release-halt';

/** The part of a cluster that is paused. Without both it is the whole cluster. */
export interface PausePart {
  readonly unit?: string;
  /** The object as `parseObjectName` returns it. */
  readonly object?: string;
}

export interface PauseRequest extends PausePart {
  readonly by: string;
  readonly reason: string;
  readonly since: string;
  /** When the pause ends by itself. */
  readonly until?: string;
}

/** Adds a pause. A second halt of the same part replaces the first one. The pauses of others stay. */
export function withPause(pauses: Pauses, request: PauseRequest): Pauses {
  const name = pauseName(request);
  return [...pauses.filter((pause) => pause.name !== name), { name, ...request }];
}

/** The name of an object can be longer than that of a pause. */
function pauseName({ unit, object }: PausePart): string {
  if (object !== undefined) return `${PAUSE}.object.${digestOf(object).replace('sha256:', '').slice(0, 16)}`;
  return unit === undefined ? PAUSE : `${PAUSE}.${unit}`;
}

/**
 * Removes the pause of the cluster or, of a unit or an object, every pause, even one that another client wrote: the status names
 * this command for each.
 */
export function withoutPause(pauses: Pauses, { unit, object }: PausePart): Pauses {
  return pauses.filter((pause) => {
    if (object !== undefined) return pause.object !== object;
    return unit === undefined ? pause.name !== PAUSE : pause.unit !== unit || pause.object !== undefined;
  });
}

/** The limit of `spec.pauses[].object` in the kind. */
const MAX_OBJECT = 320;
const OBJECT = new RegExp(PAUSED_OBJECT.regex);
/** An object as the status prints it: `apps/Deployment shop/web`. */
const AS_IN_STATUS = /^(?:[a-z0-9.-]+\/)?(?<kind>[A-Za-z0-9]+) (?<name>\S+)$/;

/** Returns the object as `spec.pauses` names it. It accepts the text of the status, too, which people copy. */
export function parseObjectName(text: string): string {
  const { kind, name } = AS_IN_STATUS.exec(text)?.groups ?? {};
  const object = kind === undefined ? text : `${kind}/${name ?? ''}`;
  if (object.length <= MAX_OBJECT && OBJECT.test(object)) return object;
  throw new InvalidArgumentError(`Expected ${PAUSED_OBJECT.description}, got ${JSON.stringify(text)}.`);
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
