/** Sets of fields as managedFields hold them: leaves, each a path of the segments of fieldsV1. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonRecord } from '../../../src/kube/objects/json.ts';

/** How the lists of a kind are merged, by the name of their field; a list that is not named is atomic. */
export type ListTypes = Readonly<Record<string, 'set' | readonly string[]>>;

/** `f:spec`, `k:{"name":"a"}`, `v:"a"`; `.` for the entry of a list itself. */
export type FieldSegments = readonly string[];

export const OF_METADATA: ListTypes = { finalizers: 'set', ownerReferences: ['uid'], conditions: ['type'] };

export interface Leaf {
  readonly path: FieldSegments;
  readonly value: unknown;
}

export function leavesOf(value: unknown, lists: ListTypes, path: FieldSegments = []): Leaf[] {
  if (Array.isArray(value)) return leavesOfList(value, lists, path);
  const fields = isRecord(value) ? Object.entries(value) : [];
  if (fields.length === 0) return path.length > 0 ? [{ path, value }] : [];
  return fields.flatMap(([field, part]) => leavesOf(part, lists, [...path, `f:${field}`]));
}

function leavesOfList(list: readonly unknown[], lists: ListTypes, path: FieldSegments): Leaf[] {
  const type = lists[path.at(-1)?.slice(2) ?? ''];
  if (type === undefined || list.length === 0) return [{ path, value: list }];
  return list.flatMap((entry): Leaf[] => {
    if (type === 'set') return [{ path: [...path, `v:${JSON.stringify(entry)}`], value: entry }];
    const entryPath = [...path, keySegment(entry, type)];
    return [{ path: [...entryPath, '.'], value: undefined }, ...leavesOf(entry, lists, entryPath)];
  });
}

export function keySegment(entry: unknown, keys: readonly string[]): string {
  const key = Object.fromEntries(keys.map((field) => [field, isRecord(entry) ? entry[field] : undefined]));
  return `k:${JSON.stringify(key)}`;
}

/** The value at a path; undefined where nothing is. */
export function valueAtSegments(value: unknown, path: FieldSegments): unknown {
  return path.reduce<unknown>((at, segment) => {
    if (segment === '.') return at;
    if (segment.startsWith('f:')) return isRecord(at) ? at[segment.slice(2)] : undefined;
    return Array.isArray(at) ? at.find((entry) => isEntry(entry, segment)) : undefined;
  }, value);
}

/** A copy without this leaf. What becomes empty by it goes, too. */
export function withoutSegments(value: unknown, [segment, ...rest]: FieldSegments): unknown {
  if (segment === undefined || segment === '.') return undefined;
  if (Array.isArray(value)) return withoutEntry(value, segment, rest);
  return isRecord(value) ? withoutField(value, segment.slice(2), rest) : value;
}

function withoutField(record: JsonRecord, field: string, rest: FieldSegments): JsonRecord | undefined {
  const { [field]: part, ...others } = record;
  const left = part === undefined ? undefined : withoutSegments(part, rest);
  return left === undefined ? emptyAsUndefined(others) : { ...record, [field]: left };
}

function withoutEntry(
  list: readonly unknown[],
  segment: string,
  rest: FieldSegments,
): readonly unknown[] | undefined {
  const left = list.flatMap((entry) => {
    const part = isEntry(entry, segment) ? withoutSegments(entry, rest) : entry;
    return part === undefined ? [] : [part];
  });
  return left.length === 0 ? undefined : left;
}

function emptyAsUndefined(record: JsonRecord): JsonRecord | undefined {
  return Object.keys(record).length === 0 ? undefined : record;
}

function isEntry(entry: unknown, segment: string): boolean {
  const key: unknown = JSON.parse(segment.slice(2));
  if (segment.startsWith('v:')) return isDeepStrictEqual(entry, key);
  return (
    isRecord(key) &&
    isRecord(entry) &&
    Object.entries(key).every(([field, value]) => isDeepStrictEqual(entry[field], value))
  );
}

/** `{"f:spec":{"f:size":{}}}` */
export function fieldsV1Of(paths: readonly FieldSegments[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const path of paths) {
    let at = root;
    for (const segment of path) at = (at[segment] ??= {}) as Record<string, unknown>;
  }
  return root;
}

export function pathsOfFieldsV1(fieldsV1: unknown, path: FieldSegments = []): FieldSegments[] {
  if (!isRecord(fieldsV1) || Object.keys(fieldsV1).length === 0) return path.length > 0 ? [path] : [];
  return Object.entries(fieldsV1).flatMap(([segment, below]) => pathsOfFieldsV1(below, [...path, segment]));
}

export function samePath(one: FieldSegments, other: FieldSegments): boolean {
  return one.length === other.length && one.every((segment, index) => segment === other[index]);
}
