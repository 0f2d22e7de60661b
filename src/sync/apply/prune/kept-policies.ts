/**
 * Finds the rules and limits that a rollback leaves as they are: those in force judge what runs now, and a return to earlier ones could
 * loosen them. Pure.
 */
import { GROUP } from '../../../api/names.ts';
import { pausedObjectName } from '../../../api/status/pauses.ts';
import { type ObjectId, objectIdOf } from '../../../kube/objects/object-id.ts';
import type { RenderedUnit } from '../../rendered.ts';
import type { Inventory } from '../inventory/inventory.ts';

const KINDS: ReadonlySet<string> = new Set(['NodeRemedier', 'DefenderPolicy']);
const BECAUSE = 'a rollback changes no rules and no limits: they follow git when it ends';

/** Returns them as paused objects: those of the revision, and those in the cluster. */
export function keptPolicies(
  units: readonly RenderedUnit[],
  { entries }: Pick<Inventory, 'entries'>,
): ReadonlyMap<string, string> {
  const declared = units.flatMap(({ objects }) => objects.map(({ object }) => objectIdOf(object)));
  const ids = [...declared, ...entries.values()].filter(isPolicy);
  return new Map(ids.map((id) => [pausedObjectName(id), BECAUSE]));
}

function isPolicy({ group, kind }: ObjectId): boolean {
  return group === GROUP && KINDS.has(kind);
}
