/** Merges what a manager applies into an object, and removes fields from it. Pure; what does not change stays the same value. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonRecord } from '../../kube/objects/json.ts';
import { bySegment, entrySegment, type FieldSet, hasNoFields, isMember } from './field-set.ts';
import { entryType, type FieldType, fieldTypeAt, isAtomicMap, listMergeOf } from './field-types.ts';

export function mergeFields(live: unknown, applied: unknown, type: FieldType): unknown {
  if (isRecord(applied) && !isAtomicMap(type)) return mergeRecord(isRecord(live) ? live : {}, applied, type);
  if (Array.isArray(applied) && Array.isArray(live)) return mergeList(live, applied, type);
  return isDeepStrictEqual(live, applied) ? live : applied;
}

function mergeRecord(live: JsonRecord, applied: JsonRecord, type: FieldType): JsonRecord {
  const changed: Record<string, unknown> = {};
  for (const field in applied) {
    if (applied[field] === undefined) continue;
    const next = mergeFields(live[field], applied[field], fieldTypeAt(type, field));
    if (next !== live[field]) changed[field] = next;
  }
  return hasNoFields(changed) ? live : { ...live, ...changed };
}

function mergeList(
  live: readonly unknown[],
  applied: readonly unknown[],
  type: FieldType,
): readonly unknown[] {
  const merge = listMergeOf(type);
  if (merge === 'atomic') return isDeepStrictEqual(live, applied) ? live : applied;
  const desired = new Map(bySegment(applied, merge));
  const kept = live.map((entry) => {
    const segment = entrySegment(entry, merge);
    const next = desired.get(segment);
    desired.delete(segment);
    return next === undefined ? entry : mergeFields(entry, next, entryType(type));
  });
  const isSame = desired.size === 0 && kept.every((entry, index) => entry === live[index]);
  return isSame ? live : [...kept, ...desired.values()];
}

/** Undefined: nothing is left. What becomes empty goes, too. */
export function withoutFields(value: unknown, set: FieldSet, type: FieldType): unknown {
  if (isMember(set)) return undefined;
  if (Array.isArray(value)) return withoutEntries(value, set, type);
  if (!isRecord(value)) return value;
  const left: Record<string, unknown> = { ...value };
  for (const segment in set) {
    const field = segment.slice('f:'.length);
    const rest = withoutFields(value[field], set[segment] ?? {}, fieldTypeAt(type, field));
    if (rest === undefined) delete left[field];
    else left[field] = rest;
  }
  return hasNoFields(left) ? undefined : left;
}

function withoutEntries(list: readonly unknown[], set: FieldSet, type: FieldType): unknown {
  const merge = listMergeOf(type);
  const left = list.flatMap((entry) => {
    const removed = set[entrySegment(entry, merge)];
    if (!removed) return [entry];
    const rest = withoutFields(entry, removed, entryType(type));
    return rest === undefined ? [] : [rest];
  });
  return left.length === 0 ? undefined : left;
}
