/** Computes with sets of fields in the form of fieldsV1. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonRecord } from '../../kube/objects/json.ts';
import {
  entryType,
  type FieldType,
  fieldTypeAt,
  isAtomicMap,
  type ListMerge,
  listMergeOf,
} from './field-types.ts';

/** `{"f:spec":{"f:size":{},"k:{\"name\":\"a\"}":{".":{}}}}`: without children, or with `.`, the field itself is in the set. */
export interface FieldSet {
  readonly [segment: string]: FieldSet;
}

const LEAF: FieldSet = {};

export function fieldSetOf(value: unknown, type: FieldType): FieldSet {
  if (Array.isArray(value)) return fieldsOfList(value, type);
  if (!isGranular(value, type)) return LEAF;
  const set: Record<string, FieldSet> = {};
  for (const field in value) {
    if (value[field] !== undefined) set[`f:${field}`] = fieldSetOf(value[field], fieldTypeAt(type, field));
  }
  return set;
}

function fieldsOfList(list: readonly unknown[], type: FieldType): FieldSet {
  const merge = listMergeOf(type);
  if (merge === 'atomic') return LEAF;
  const set: Record<string, FieldSet> = {};
  for (const entry of list) set[entrySegment(entry, merge)] = fieldsOfEntry(entry, merge, type);
  return set;
}

function fieldsOfEntry(entry: unknown, merge: ListMerge, type: FieldType): FieldSet {
  return merge === 'set' ? LEAF : { '.': LEAF, ...fieldSetOf(entry, entryType(type)) };
}

/** `v:"a"` in a set; `k:{"name":"a"}` by keys. */
export function entrySegment(entry: unknown, merge: ListMerge): string {
  if (typeof merge === 'string') return `v:${JSON.stringify(entry)}`;
  const found = isRecord(entry) ? entry : {};
  const keys = merge.map((field) => `"${field}":${JSON.stringify(found[field])}`);
  return `k:{${keys.join()}}`;
}

/** Compares only what is in `after`. Undefined: nothing of it differs. */
export function changedFields(before: unknown, after: unknown, type: FieldType): FieldSet | undefined {
  if (before === after) return undefined;
  if (Array.isArray(after) && Array.isArray(before)) return changedEntries(before, after, type);
  if (!isGranular(before, type) || !isGranular(after, type) || hasNoFields(after)) {
    return isDeepStrictEqual(before, after) ? undefined : fieldSetOf(after, type);
  }
  return collected(Object.keys(after), (field) =>
    after[field] === undefined
      ? undefined
      : changedFields(before[field], after[field], fieldTypeAt(type, field)),
  );
}

function isGranular(value: unknown, type: FieldType): value is JsonRecord {
  return isRecord(value) && !isAtomicMap(type);
}

function changedEntries(
  before: readonly unknown[],
  after: readonly unknown[],
  type: FieldType,
): FieldSet | undefined {
  const merge = listMergeOf(type);
  if (merge === 'atomic' || after.length === 0) return isDeepStrictEqual(before, after) ? undefined : LEAF;
  const known = bySegment(before, merge);
  const set: Record<string, FieldSet> = {};
  for (const [segment, entry] of bySegment(after, merge)) {
    const changed = known.has(segment)
      ? changedFields(known.get(segment), entry, entryType(type))
      : fieldsOfEntry(entry, merge, type);
    if (changed) set[segment] = changed;
  }
  return hasNoFields(set) ? undefined : set;
}

/** Each field that is missing in `after`: all that is below it is missing, too. */
export function removedFields(before: unknown, after: unknown, type: FieldType): FieldSet | undefined {
  if (before === after || before === undefined) return undefined;
  if (after === undefined) return LEAF;
  if (Array.isArray(before) && Array.isArray(after)) return removedEntries(before, after, type);
  if (!isGranular(before, type)) return undefined;
  const rest = isRecord(after) ? after : {};
  return collected(Object.keys(before), (field) =>
    removedFields(before[field], rest[field], fieldTypeAt(type, field)),
  );
}

function removedEntries(
  before: readonly unknown[],
  after: readonly unknown[],
  type: FieldType,
): FieldSet | undefined {
  const merge = listMergeOf(type);
  if (merge === 'atomic') return undefined;
  const left = bySegment(after, merge);
  const set: Record<string, FieldSet> = {};
  for (const [segment, entry] of bySegment(before, merge)) {
    const removed = left.has(segment) ? removedFields(entry, left.get(segment), entryType(type)) : LEAF;
    if (removed) set[segment] = removed;
  }
  return hasNoFields(set) ? undefined : set;
}

export function bySegment(list: readonly unknown[], merge: ListMerge): ReadonlyMap<string, unknown> {
  return new Map(list.map((entry) => [entrySegment(entry, merge), entry]));
}

function collected(
  fields: readonly string[],
  part: (field: string) => FieldSet | undefined,
): FieldSet | undefined {
  const set: Record<string, FieldSet> = {};
  for (const field of fields) {
    const found = part(field);
    if (found) set[`f:${field}`] = found;
  }
  return hasNoFields(set) ? undefined : set;
}

export function union(one: FieldSet, other: FieldSet | undefined): FieldSet {
  if (other === undefined) return one;
  const set: Record<string, FieldSet> = { ...one };
  for (const segment in other) set[segment] = union(other[segment] ?? LEAF, set[segment]);
  const isIn = isMember(one) || isMember(other);
  return isIn && !hasNoFields(set) ? { '.': LEAF, ...set } : set;
}

/**
 * Same: removes the fields of the other set. Within: and values of which the other set has a part. Below: and everything below its fields.
 */
export type Subtraction = 'same' | 'within' | 'below';

/** Undefined: no field is left. */
export function subtract(set: FieldSet, other: FieldSet | undefined, how: Subtraction): FieldSet | undefined {
  if (other === undefined) return set;
  if (how === 'below' && hasNoFields(other)) return undefined;
  const left = childrenWithout(set, other, how);
  const stays = keepsMember(set, other, how);
  if (hasNoFields(left)) return stays ? LEAF : undefined;
  const next = stays ? { '.': LEAF, ...left } : left;
  return isSame(set, next) ? set : next;
}

function childrenWithout(set: FieldSet, other: FieldSet, how: Subtraction): FieldSet {
  const left: Record<string, FieldSet> = {};
  for (const segment in set) {
    const rest = segment === '.' ? undefined : subtract(set[segment] ?? LEAF, other[segment], how);
    if (rest) left[segment] = rest;
  }
  return left;
}

function isSame(set: FieldSet, next: FieldSet): boolean {
  const segments = Object.keys(set);
  const same = segments.filter((segment) => segment === '.' || set[segment] === next[segment]);
  return same.length === segments.length && segments.length === Object.keys(next).length;
}

function keepsMember(set: FieldSet, other: FieldSet, how: Subtraction): boolean {
  if (!isMember(set) || how === 'below') return isMember(set);
  return !isMember(other) && !(how === 'within' && hasNoFields(set));
}

/** Returns `.spec.size` for each field that is in both. */
export function commonFields(one: FieldSet, other: FieldSet, path = ''): readonly string[] {
  const own = isMember(one) && isMember(other) ? [path] : [];
  const below = Object.keys(one).flatMap((segment) => {
    const [mine, theirs] = [one[segment], other[segment]];
    if (segment === '.' || !mine || !theirs) return [];
    const step = segment.startsWith('f:') ? `.${segment.slice(2)}` : `[${segment}]`;
    return commonFields(mine, theirs, path + step);
  });
  return [...own, ...below];
}

export function isMember(set: FieldSet): boolean {
  return hasNoFields(set) || Object.hasOwn(set, '.');
}

export function hasNoFields(set: object): boolean {
  for (const _ in set) return false;
  return true;
}
