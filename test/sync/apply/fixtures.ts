/** A small cluster for the planner: what git renders, what the inventory says, what is really there. */
import { LABEL_HUB, LABEL_UNIT } from '../../../src/api/names.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import {
  emptyInventory,
  type InventoryEntry,
  withConfirmed,
} from '../../../src/sync/apply/inventory/inventory.ts';
import { withOwnerLabels } from '../../../src/sync/apply/inventory/owner-labels.ts';
import type { World } from '../../../src/sync/apply/plan.ts';
import type { RenderedUnit } from '../../../src/sync/rendered.ts';

export const HUB = 'hub-uid';
export const UNIT = 'web';
export const OLD_COMMIT = 'a'.repeat(40);
export const COMMIT = 'b'.repeat(40);

export function configMap(name: string, data: Record<string, string> = { key: 'value' }): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

export function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export function unit(name: string, objects: readonly KubeObject[]): RenderedUnit {
  return {
    unit: name,
    objects: objects.map((object) => ({ object, source: { file: 'fleet/main.ts:1' } })),
    digest: digestOf(objects),
  };
}

/** As the server holds it after an apply by us. */
export function live(
  object: KubeObject,
  { unit: name = UNIT, hub = HUB }: { unit?: string; hub?: string } = {},
): KubeObject {
  const marked = withOwnerLabels({ object, source: {} }, { hub, unit: name, commit: OLD_COMMIT });
  return {
    ...marked,
    metadata: { ...marked.metadata, uid: `uid-${object.metadata.name}`, resourceVersion: '1' },
  };
}

export function entry(object: KubeObject, more: Partial<InventoryEntry> = {}): InventoryEntry {
  return {
    ...objectIdOf(object),
    version: 'v1',
    unit: UNIT,
    commit: OLD_COMMIT,
    applied: digestOf(object),
    uid: `uid-${object.metadata.name}`,
    ...more,
  };
}

export interface Scene {
  readonly git?: readonly RenderedUnit[];
  readonly inventory?: readonly InventoryEntry[];
  readonly cluster?: readonly KubeObject[];
  readonly unknown?: (id: ObjectId) => boolean;
  readonly more?: Partial<World>;
}

export function world({
  git = [],
  inventory = [],
  cluster = [],
  unknown = () => false,
  more = {},
}: Scene): World {
  const there = new Map(cluster.map((object) => [objectKey(objectIdOf(object)), object]));
  return {
    hub: HUB,
    commit: COMMIT,
    units: git,
    inventory: withConfirmed(emptyInventory('cluster-uid'), inventory, []),
    live: (id) => (unknown(id) ? 'unknown' : (there.get(objectKey(id)) ?? 'absent')),
    unknownReason: ({ kind }) => `${kind} cannot be seen`,
    serverForms: new Map(),
    budget: { maxObjects: 10, maxPercent: 20 },
    acknowledgements: [],
    ...more,
  };
}

/** Somebody else's hand. */
export function withLabels(object: KubeObject, labels: Record<string, string>): KubeObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } };
}

export const FOREIGN = { [LABEL_HUB]: 'another-hub' };
export const MOVED = { [LABEL_UNIT]: 'other' };
