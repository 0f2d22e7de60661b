/**
 * Finds the rules and limits that a rollback leaves as they are: those in force judge what runs now, and a return to earlier ones could
 * loosen them. Pure.
 */
import { pausedObjectName } from '../../../api/status/pauses.ts';
import { objectIdOf } from '../../../kube/objects/object-id.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { isGitOnly } from '../../protected-kinds.ts';
import type { RenderedUnit } from '../../rendered.ts';
import type { SyncTarget } from '../context.ts';
import type { Inventory } from '../inventory/inventory.ts';

const BECAUSE = 'a rollback changes no rules and no limits: they follow git when it ends';

type Paused = Pick<SyncTarget, 'isRollback' | 'pausedObjects'>;

/**
 * Returns the paused objects, and with them those of the revision and those in the cluster. The inventory has to list also what was found
 * by its owner labels. A pause of a person has the text of that pause.
 */
export function withKeptPolicies(
  { isRollback, pausedObjects }: Paused,
  units: readonly RenderedUnit[],
  { entries }: Pick<Inventory, 'entries'>,
): Pick<SyncTarget, 'pausedObjects'> {
  if (!isRollback) return optional('pausedObjects', pausedObjects);
  const declared = units.flatMap(({ objects }) => objects.map(({ object }) => objectIdOf(object)));
  const ids = [...declared, ...entries.values()].filter(isGitOnly);
  const kept = ids.map((id) => [pausedObjectName(id), BECAUSE] as const);
  return { pausedObjects: new Map([...kept, ...(pausedObjects ?? [])]) };
}
