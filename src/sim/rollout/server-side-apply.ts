/** What a server-side apply makes of an object: as much of it as the controllers of the simulator need. Pure. */
import { MANAGER_COMPONENTSET } from '../../api/names.ts';
import { isRecord, type JsonRecord } from '../../kube/objects/json.ts';
import type { KubeObject, ManagedFields } from '../../kube/objects/object.ts';

export type AppliedPart = 'spec' | 'status';

/** `before`: the fields of that part that the manager applied last. What it does not apply any more is removed. */
export function appliedObject(
  live: KubeObject,
  object: KubeObject,
  { part, before }: { readonly part: AppliedPart; readonly before: readonly string[] },
): KubeObject {
  const desired = recordAt(object, part);
  const next = mergedPart(recordAt(live, part), desired, before);
  const isOwner = live.kind === 'Machine' && part === 'spec';
  const metadata = isOwner ? { ...live.metadata, managedFields: ownersOf(desired) } : live.metadata;
  return { ...live, metadata, [part]: next };
}

export function recordAt(object: KubeObject, part: AppliedPart): JsonRecord {
  const found = object[part];
  return isRecord(found) ? found : {};
}

/** Conditions are merged by type. */
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

/** Every entry of a simulated machine is of the component set controller. */
function ownersOf({ components }: JsonRecord): readonly ManagedFields[] {
  const entries = listOf(components).map((each) => {
    const name = isRecord(each) ? each['name'] : undefined;
    return [`k:${JSON.stringify({ name })}`, { '.': {}, 'f:componentRef': {} }];
  });
  const fieldsV1 = { 'f:spec': { 'f:components': Object.fromEntries(entries) as JsonRecord } };
  return [{ manager: MANAGER_COMPONENTSET, operation: 'Apply', fieldsV1 }];
}
