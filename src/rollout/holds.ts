/** Tells whether a person, or the system that owns its instance, keeps automation off a machine. Pure. */
import type { Machine, MachineHold } from '../api/generated/types.ts';
import { ANNOTATION_HOLD, ANNOTATION_OWNER_HOLD } from '../api/names.ts';
import type { KubeObject } from '../kube/objects/object.ts';

/** Returns the holds in the spec of the Machine and in the annotations of Machine and Node; some may have ended. That of its owner is last. */
export function holdsOf({ spec, metadata }: Machine, node: KubeObject | undefined): readonly MachineHold[] {
  const annotated = [metadata, node?.metadata].flatMap(
    (each) => annotatedHold(each?.annotations?.[ANNOTATION_HOLD]) ?? [],
  );
  const ofOwner = metadata.annotations?.[ANNOTATION_OWNER_HOLD];
  return [
    ...(spec.hold ? [spec.hold] : []),
    ...annotated,
    ...(ofOwner === undefined ? [] : [{ reason: ofOwner, scope: 'Disruptive' } as const]),
  ];
}

/** Returns the hold that forbids most, of those that have not ended. */
export function holdInForce(
  machine: Machine,
  node: KubeObject | undefined,
  now: Date,
): MachineHold | undefined {
  const holds = holdsOf(machine, node).filter(({ until }) => !hasEnded(until, now));
  return holds.find(({ scope }) => scope === 'All') ?? holds[0];
}

/** A hold whose end cannot be read never ends: in doubt nothing is done. */
function hasEnded(until: string | undefined, now: Date): boolean {
  return until !== undefined && Date.parse(until) <= now.getTime();
}

/** Reads a hold from an annotation of the form `<until>; <reason>`. A hold without a time that can be read has no end. */
function annotatedHold(text: string | undefined): MachineHold | undefined {
  if (text === undefined) return undefined;
  const [until = '', ...reason] = text.split(';');
  const end = Date.parse(until.trim());
  const why = reason.join(';').trim() || text;
  return {
    reason: why,
    scope: 'All',
    ...(Number.isNaN(end) ? {} : { until: new Date(end).toISOString() }),
  };
}
