/** Compares what is in a cluster with what a commit declares, independently of the code of sync. Pure. */
import { LABEL_HUB, LABEL_UNIT } from '../../../src/api/names.ts';
import { isRecord } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf, objectKey } from '../../../src/kube/objects/object-id.ts';
import type { Content } from './content.ts';

export interface ClusterContent {
  /** Every object with owner labels of this hub, and every declared object that exists. */
  readonly live: readonly KubeObject[];
  /** Keys and units in the inventory. */
  readonly inventory: ReadonlyMap<string, string>;
  /** What other managers created, as they created it. */
  readonly foreign: readonly KubeObject[];
}

export function findProblems(content: Content, hub: string, cluster: ClusterContent): string[] {
  const desired = new Map(
    Object.entries(content).flatMap(([unit, objects]) =>
      objects.map((object) => [keyOf(object), { unit, object }] as const),
    ),
  );
  const live = new Map(cluster.live.map((object) => [keyOf(object), object]));
  return [
    ...[...desired].flatMap(([key, { unit, object }]) =>
      objectProblems(object, { hub, unit, live: live.get(key) }).map((problem) => `${key}: ${problem}`),
    ),
    ...cluster.live
      .filter((object) => isOwned(object, hub) && !desired.has(keyOf(object)))
      .map((object) => `${keyOf(object)}: orphan: it carries owner labels and no commit declares it`),
    ...inventoryProblems(desired, cluster.inventory),
    ...cluster.foreign.flatMap((object) => foreignProblems(object, live.get(keyOf(object)), hub)),
  ];
}

function isOwned({ metadata }: KubeObject, hub: string): boolean {
  return metadata.labels?.[LABEL_HUB] === hub;
}

interface LiveObject {
  readonly hub: string;
  readonly unit: string;
  readonly live: KubeObject | undefined;
}

function objectProblems(desired: KubeObject, { hub, unit, live }: LiveObject): string[] {
  if (!live) return ['missing'];
  if (live.metadata.deletionTimestamp) return ['being deleted'];
  const labels = live.metadata.labels ?? {};
  return [
    ...(labels[LABEL_HUB] === hub && labels[LABEL_UNIT] === unit
      ? []
      : [`without owner labels of unit ${unit}`]),
    ...differences(withoutMetadata(desired), withoutMetadata(live), ''),
  ];
}

function inventoryProblems(
  desired: ReadonlyMap<string, { readonly unit: string }>,
  inventory: ReadonlyMap<string, string>,
): string[] {
  const missing = [...desired].filter(([key, { unit }]) => inventory.get(key) !== unit);
  const extra = [...inventory.keys()].filter((key) => !desired.has(key));
  return [
    ...missing.map(([key, { unit }]) => `${key}: not in the inventory of unit ${unit}`),
    ...extra.map((key) => `${key}: in the inventory, and no commit declares it`),
  ];
}

function foreignProblems(created: KubeObject, live: KubeObject | undefined, hub: string): string[] {
  const key = keyOf(created);
  if (!live) return [`${key}: belongs to another manager and was deleted`];
  if (live.metadata.uid !== created.metadata.uid) {
    return [`${key}: belongs to another manager and was recreated`];
  }
  const owned = isOwned(live, hub) ? [`${key}: belongs to another manager and carries owner labels`] : [];
  const changed = differences(withoutMetadata(created), withoutMetadata(live), '');
  return [...owned, ...changed.map((problem) => `${key}: belongs to another manager, ${problem}`)];
}

function withoutMetadata(object: KubeObject): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(object).filter(([field]) => field !== 'metadata'));
}

/** Fields of `desired` that differ in `live`. Fields that only `live` has are defaults of the server. */
function differences(desired: unknown, live: unknown, path: string): string[] {
  if (isRecord(desired)) {
    const fields = isRecord(live) ? live : {};
    return Object.entries(desired).flatMap(([key, value]) =>
      differences(value, fields[key], `${path}.${key}`),
    );
  }
  if (Array.isArray(desired)) {
    const items: readonly unknown[] = Array.isArray(live) ? live : [];
    if (items.length !== desired.length) {
      return [`${path}: expected ${desired.length} items, got ${items.length}`];
    }
    return desired.flatMap((value, index) => differences(value, items[index], `${path}[${index}]`));
  }
  return desired === live
    ? []
    : [`${path}: expected ${JSON.stringify(desired)}, got ${JSON.stringify(live)}`];
}

export function keyOf(object: KubeObject): string {
  return objectKey(objectIdOf(object));
}
