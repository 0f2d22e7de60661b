/** Computes what a server-side apply makes of an object: as much of it as the controllers of the simulator need. Pure. */
import { isRecord, type JsonRecord, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject, ManagedFields, Metadata, OwnerReference } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';

export type AppliedPart = 'spec' | 'status';

export interface ApplyOf {
  readonly manager: string;
  readonly part: AppliedPart;
  /** The fields of that part that the manager applied last. What it does not apply any more is removed. */
  readonly before: readonly string[];
}

export function appliedObject(
  live: KubeObject,
  object: KubeObject,
  { manager, part, before }: ApplyOf,
): KubeObject {
  const desired = recordAt(object, part);
  const next = mergedPart(recordAt(live, part), desired, before);
  const isOwner = live.kind === 'Machine' && part === 'spec';
  const metadata = isOwner ? appliedMetadata(live, object, manager) : live.metadata;
  return { ...live, metadata, [part]: next };
}

export function recordAt(object: KubeObject, part: AppliedPart): JsonRecord {
  const found = object[part];
  return isRecord(found) ? found : {};
}

/** Merges a part of the object. Conditions are merged by type. */
function mergedPart(live: JsonRecord, desired: JsonRecord, before: readonly string[]): JsonRecord {
  const kept = Object.entries(live).filter(([field]) => !before.includes(field) || field === 'conditions');
  const all = { ...Object.fromEntries(kept), ...desired };
  const { conditions } = desired;
  if (!Array.isArray(conditions)) return all;
  return { ...all, conditions: mergedConditions(listOf(live['conditions']), conditions) };
}

function mergedConditions(live: readonly unknown[], desired: readonly unknown[]): readonly unknown[] {
  const byType = new Map(desired.map((each) => [typeOf(each), each]));
  const kept = live.map((each) => byType.get(typeOf(each)) ?? each);
  const known = new Set(kept.map(typeOf));
  return [...kept, ...desired.filter((each) => !known.has(typeOf(each)))];
}

function typeOf(condition: unknown): unknown {
  return isRecord(condition) ? condition['type'] : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Merges the metadata: labels by key, owners by UID. Each manager has its own record of what it applies. */
function appliedMetadata({ metadata }: KubeObject, object: KubeObject, manager: string): Metadata {
  const { managedFields = [] } = metadata;
  const others = managedFields.filter((each) => each.manager !== manager);
  const owned = managedFields.find((each) => each.manager === manager);
  const { labels, ownerReferences } = object.metadata;
  return {
    ...metadata,
    ...optional('labels', mergedLabels(metadata.labels, labels, ownedLabels(owned))),
    ...optional('ownerReferences', mergedOwners(metadata.ownerReferences, ownerReferences)),
    managedFields: [...others, { manager, operation: 'Apply', fieldsV1: ownedFields(object) }],
  };
}

type Labels = Metadata['labels'];

function mergedLabels(live: Labels, desired: Labels, before: readonly string[]): Labels {
  const kept = Object.entries(live ?? {}).filter(([key]) => !before.includes(key));
  return live || desired ? { ...Object.fromEntries(kept), ...desired } : undefined;
}

function ownedLabels(owned: ManagedFields | undefined): readonly string[] {
  const labels = valueAt(owned?.fieldsV1, 'f:metadata', 'f:labels');
  return isRecord(labels) ? Object.keys(labels).map((field) => field.slice('f:'.length)) : [];
}

function mergedOwners(
  live: readonly OwnerReference[] | undefined,
  desired: readonly OwnerReference[] | undefined,
): readonly OwnerReference[] | undefined {
  const uids = new Set(desired?.map(({ uid }) => uid));
  return desired ? [...(live ?? []).filter(({ uid }) => !uids.has(uid)), ...desired] : live;
}

function ownedFields(object: KubeObject): JsonRecord {
  const { components } = recordAt(object, 'spec');
  const entries = listOf(components).map((each) => {
    const name = isRecord(each) ? each['name'] : undefined;
    return [`k:${JSON.stringify({ name })}`, { '.': {}, 'f:componentRef': {} }];
  });
  const labels = Object.keys(object.metadata.labels ?? {}).map((key) => [`f:${key}`, {}]);
  return {
    ...(labels.length > 0 ? { 'f:metadata': { 'f:labels': Object.fromEntries(labels) as JsonRecord } } : {}),
    'f:spec': { 'f:components': Object.fromEntries(entries) as JsonRecord },
  };
}
