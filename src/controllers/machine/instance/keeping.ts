/**
 * Decides whether the instance of a machine that a job has replaced is kept for an analysis, and until when. At most `max` machines of a
 * set are kept: of those that were recorded at the same moment, the later ones are deleted. Pure.
 */
import type { Machine, MachineKept } from '../../../api/generated/types.ts';
import { isKept } from '../../../api/machine/kept.ts';
import { ANNOTATION_DELETE, LABEL_MACHINESET } from '../../../api/names.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { secondsAfter } from '../../../os/dates.ts';

export interface KeepingInput {
  readonly machine: Machine;
  /** The other machines of its set that are kept. */
  readonly othersKept: readonly Machine[];
  readonly now: Date;
}

/** The reason of the wait of a machine that is kept. */
export const KEPT_REASON = 'Kept';

export function othersKeptOf(machine: Machine, machines: readonly Machine[]): readonly Machine[] {
  const set = machine.metadata.labels?.[LABEL_MACHINESET];
  return machines.filter(
    (other) =>
      isKept(other) &&
      other.metadata.name !== machine.metadata.name &&
      other.metadata.labels?.[LABEL_MACHINESET] === set,
  );
}

/** Returns what to record once the machine is drained. Undefined: its job does not ask for it, or as many as allowed are kept. */
export function planKeeping({ machine, othersKept, now }: KeepingInput): MachineKept | undefined {
  const { kept, replacement } = machine.status ?? {};
  const { keepFailed, job } = replacement ?? {};
  if (kept || !job || !keepFailed || !mayBeKept(machine)) return undefined;
  const { holdSeconds, max } = keepFailed;
  if (othersKept.length >= max) return undefined;
  return { job, since: now.toISOString(), until: secondsAfter(now, holdSeconds).toISOString(), max };
}

/** Returns until when the machine is kept; undefined when it is not, or not any longer. */
export function keptUntil({ machine, othersKept, now }: KeepingInput): Date | undefined {
  const kept = machine.status?.kept;
  if (!kept || !mayBeKept(machine)) return undefined;
  const own = keyOf(machine);
  if (othersKept.filter((other) => byCode(keyOf(other), own) < 0).length >= kept.max) return undefined;
  const until = new Date(kept.until);
  return until > now ? until : undefined;
}

/** Pods may be left on a machine whose drain is skipped, and of an instance that was deleted by hand nothing is left. A person ends it. */
function mayBeKept({ metadata, spec, status }: Machine): boolean {
  if (spec.deletion.drain === 'Skip' || status?.infra?.state === 'Gone') return false;
  return metadata.annotations?.[ANNOTATION_DELETE] === undefined;
}

function keyOf({ metadata, status }: Machine): string {
  return `${status?.kept?.since ?? ''} ${metadata.name}`;
}

/** Returns when a deletion has taken too long. The time for which the instance is kept does not count. */
export function deletionDeadline({ metadata, spec, status }: Machine): Date | undefined {
  const { deletionTimestamp } = metadata;
  if (deletionTimestamp === undefined) return undefined;
  const since = new Date(status?.kept?.until ?? deletionTimestamp);
  return secondsAfter(since, spec.deletion.timeoutSeconds);
}
