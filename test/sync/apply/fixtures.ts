/** Builders for planner tests: what git renders, what the inventory lists and what is in the cluster. */
import { LABEL_HUB, LABEL_UNIT } from '../../../src/api/names.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import type { ApplyInput } from '../../../src/sync/apply/input.ts';
import type { InventoryEntry } from '../../../src/sync/apply/inventory/inventory.ts';
import { withOwnerLabels } from '../../../src/sync/apply/inventory/owner-labels.ts';
import type { WriterLease } from '../../../src/sync/apply/session.ts';
import type { RenderedUnit } from '../../../src/sync/rendered.ts';

export const HUB = 'hub-uid';
export const UNIT = 'web';
export const OLD_COMMIT = 'a'.repeat(40);
/** The Lease of a process that writes. */
export const HELD: WriterLease = {
  notHeldReason: () => undefined,
  epoch: () => 1,
  raiseEpoch: () => undefined,
};
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

export const APPLIED_BY_SYNC = [{ manager: 'kubenode-sync', operation: 'Apply' as const }];

/** The object as the server returns it after we applied it. */
export function live(
  object: KubeObject,
  { unit: name = UNIT, hub = HUB }: { unit?: string; hub?: string } = {},
): KubeObject {
  const labeled = withOwnerLabels({ object, source: {} }, { hub, unit: name, commit: OLD_COMMIT });
  return {
    ...labeled,
    metadata: {
      ...labeled.metadata,
      uid: `uid-${object.metadata.name}`,
      resourceVersion: '1',
      managedFields: APPLIED_BY_SYNC,
    },
  };
}

/** The live object while it is being deleted. */
export function terminating(object: KubeObject): KubeObject {
  const { metadata, ...rest } = live(object);
  const deletion = { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['x/y'] };
  return { ...rest, metadata: { ...metadata, ...deletion } };
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

export interface ApplyScenario {
  readonly git?: readonly RenderedUnit[];
  readonly inventory?: readonly InventoryEntry[];
  readonly cluster?: readonly KubeObject[];
  readonly unknown?: (id: ObjectId) => boolean;
  readonly more?: Partial<ApplyInput>;
}

export function applyInput({
  git = [],
  inventory = [],
  cluster = [],
  unknown = () => false,
  more = {},
}: ApplyScenario): ApplyInput {
  const objects = new Map(cluster.map((object) => [objectKey(objectIdOf(object)), object]));
  return {
    hub: HUB,
    commit: COMMIT,
    units: git,
    inventory: {
      clusterUID: 'cluster-uid',
      entries: new Map(inventory.map((item) => [objectKey(item), item])),
      spent: [],
    },
    live: (id) => (unknown(id) ? 'unknown' : (objects.get(objectKey(id)) ?? 'absent')),
    unknownReason: ({ kind }) => `${kind} cannot be read`,
    serverForms: new Map(),
    budget: { maxObjects: 10, maxPercent: 20 },
    acknowledgements: [],
    ...more,
  };
}

export function withLabels(object: KubeObject, labels: Record<string, string>): KubeObject {
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } };
}

export const OTHER_HUB = { [LABEL_HUB]: 'another-hub' };
export const OTHER_UNIT = { [LABEL_UNIT]: 'other' };
