/** Which holds keep a machine from being replaced, and not only from being repaired. Pure. */
import type { Machine, MachineHold } from '../../../../api/generated/types.ts';
import { ANNOTATION_OWNER_HOLD } from '../../../../api/names.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { holdInForce } from '../../../../rollout/holds.ts';

export interface ReplacementHold {
  readonly reason: string;
  readonly because: string;
  readonly until?: Date;
}

/**
 * The reasons of Cluster API that forbid repairs, and no replacement: without its Node nothing can be repaired, and a Node that is not to be
 * drained may still be deleted.
 */
const REPLACEABLE: readonly string[] = ['DrainExcluded', 'NodeNotFound', 'NodeWithoutProviderID', 'NoNode'];

/** Returns the hold of a person, or of Cluster API. A machine that somebody keeps must not be deleted. */
export function replacementHold(
  machine: Machine,
  node: KubeObject | undefined,
  now: Date,
): ReplacementHold | undefined {
  const hold = personHold(machine, node, now);
  if (!hold) return ownerReplacementHold(machine.metadata.annotations?.[ANNOTATION_OWNER_HOLD]);
  const until = hold.until === undefined ? undefined : new Date(hold.until);
  return {
    reason: 'HumanHold',
    because: `the machine is held: ${hold.reason}`,
    ...optional('until', until),
  };
}

/** Returns the hold of a person: that of Cluster API is left out. */
export function personHold(
  machine: Machine,
  node: KubeObject | undefined,
  now: Date,
): MachineHold | undefined {
  return holdInForce(withoutOwnerHold(machine), node, now);
}

function withoutOwnerHold({ metadata, ...rest }: Machine): Machine {
  const { [ANNOTATION_OWNER_HOLD]: _, ...annotations } = metadata.annotations ?? {};
  return { ...rest, metadata: { ...metadata, annotations } };
}

/** Its text begins with the reason, as hold.ts writes it. */
function ownerReplacementHold(text: string | undefined): ReplacementHold | undefined {
  if (text === undefined) return undefined;
  const [reason = ''] = text.split(':');
  return REPLACEABLE.includes(reason) ? undefined : { reason: 'OwnerHold', because: text };
}
