/**
 * Orphans: objects that sync applied, and that neither the inventory nor git names any more, because a person deleted the
 * inventory. Found by their owner labels, and listed again, so that they are pruned or released like others. Pure.
 */
import { LABEL_HUB, LABEL_UNIT, MANAGER_SYNC } from '../../../api/names.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { groupOf, objectIdOf, objectKey } from '../../../kube/objects/object-id.ts';
import type { RenderedUnit } from '../../rendered.ts';
import type { Inventory, InventoryEntry } from '../inventory/inventory.ts';
import { isAdopted } from '../inventory/owner-labels.ts';
import type { TargetPlan } from '../plan.ts';

export interface OwnedObjects {
  /** UID of the hub. */
  readonly hub: string;
  /** Prefix of the units of the inventory: objects of other scopes are in other inventories. */
  readonly scope: string;
  readonly inventory: Inventory;
  readonly units: readonly RenderedUnit[];
  readonly objects: readonly KubeObject[];
}

/**
 * The objects with our owner labels that may be orphans. One that git declares in its unit does not count: it is applied, and so
 * confirmed. One that moves to another unit has to be listed in its former one first.
 */
export function unlistedObjects({ hub, scope, inventory, units, objects }: OwnedObjects): KubeObject[] {
  const unlisted = objects.filter(
    (object) =>
      object.metadata.labels?.[LABEL_HUB] === hub &&
      isInScope(unitLabel(object), scope) &&
      !inventory.entries.has(objectKey(objectIdOf(object))),
  );
  return unlisted.length === 0 ? unlisted : withoutDeclared(unlisted, units);
}

function withoutDeclared(objects: readonly KubeObject[], units: readonly RenderedUnit[]): KubeObject[] {
  const declared = new Set(
    units.flatMap(({ unit, objects: all }) =>
      all.map(({ object }) => `${unit} ${objectKey(objectIdOf(object))}`),
    ),
  );
  return objects.filter((object) => !declared.has(`${unitLabel(object)} ${objectKey(objectIdOf(object))}`));
}

function unitLabel({ metadata }: KubeObject): string {
  return metadata.labels?.[LABEL_UNIT] ?? '';
}

/** Names of units contain no dot, so there is none after the scope either. */
function isInScope(unit: string, scope: string): boolean {
  const name = unit.slice(scope.length);
  return unit.startsWith(scope) && name !== '' && !name.includes('.');
}

/**
 * The entry for an object as the server has it, with its `managedFields`; undefined if sync did not apply it: labels can be
 * copied, and controllers copy those of a Service to its EndpointSlices.
 */
export function orphanEntry(object: KubeObject, commit: string): InventoryEntry | undefined {
  const { uid } = object.metadata;
  if (uid === undefined || !isAppliedInThisGroup(object)) return undefined;
  return {
    ...objectIdOf(object),
    version: object.apiVersion.split('/').at(-1) ?? '',
    unit: unitLabel(object),
    commit,
    uid,
    found: true,
    ...(isAdopted(object) ? { adopted: true } : {}),
  };
}

/** Some servers serve one object in two groups: it belongs to the one through which sync applied it. */
function isAppliedInThisGroup({ apiVersion, metadata }: KubeObject): boolean {
  return (metadata.managedFields ?? []).some(
    ({ manager, operation, subresource, apiVersion: applied = apiVersion }) =>
      manager === MANAGER_SYNC &&
      operation === 'Apply' &&
      subresource === undefined &&
      groupOf(applied) === groupOf(apiVersion),
  );
}

export function withEntries(inventory: Inventory, added: readonly InventoryEntry[]): Inventory {
  if (added.length === 0) return inventory;
  const entries = new Map(inventory.entries);
  for (const entry of added) entries.set(objectKey(entry), entry);
  return { ...inventory, entries };
}

/** Entries of the inventory are missing: there may be orphans of kinds that are not watched. */
export function hasMissingEntries({ objects }: TargetPlan, orphans: readonly InventoryEntry[]): boolean {
  return orphans.length > 0 || objects.some(({ action, entry }) => action === 'update' && !entry);
}

const SHOWN = 3;

/** Describes, for people, orphans that are listed again. */
export function describeOrphans(orphans: readonly InventoryEntry[]): string {
  const first = orphans.map(objectKey).toSorted(byCode).slice(0, SHOWN).join(', ');
  const more = orphans.length > SHOWN ? ` and ${orphans.length - SHOWN} more` : '';
  return (
    `objects with our owner labels were not in the inventory: ${first}${more}. They are listed again: what git does not ` +
    'declare is pruned within the delete budget, or released if another client created it'
  );
}
