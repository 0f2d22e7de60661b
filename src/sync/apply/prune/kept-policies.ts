/**
 * Finds the rules and limits that a rollback leaves as they are: those in force judge what runs now, and a return to earlier ones could
 * loosen them. Pure.
 */
import { pausedObjectName } from '../../../api/status/pauses.ts';
import { objectIdOf } from '../../../kube/objects/object-id.ts';
import { isGitOnly } from '../../protected-kinds.ts';
import type { RenderedUnit } from '../../rendered.ts';
import type { Inventory } from '../inventory/inventory.ts';

const BECAUSE = 'a rollback changes no rules and no limits: they follow git when it ends';

/** Returns them as paused objects: those of the revision, and those in the cluster. */
export function keptPolicies(
  units: readonly RenderedUnit[],
  { entries }: Pick<Inventory, 'entries'>,
): ReadonlyMap<string, string> {
  const declared = units.flatMap(({ objects }) => objects.map(({ object }) => objectIdOf(object)));
  const ids = [...declared, ...entries.values()].filter(isGitOnly);
  return new Map(ids.map((id) => [pausedObjectName(id), BECAUSE]));
}
