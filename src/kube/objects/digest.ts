/** Digests of content: the same objects give the same digest, whatever the order of their keys. */
import { hash } from 'node:crypto';
import { isRecord, type JsonRecord } from './json.ts';

/** JSON with sorted keys and without undefined. Lists keep their order: it means something in Kubernetes. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isRecord(inner) ? sorted(inner) : inner));
}

export function digestOf(value: unknown): string {
  return `sha256:${hash('sha256', canonicalJson(value))}`;
}

function sorted(record: JsonRecord): JsonRecord {
  const keys = Object.keys(record);
  // Most records of an object are small maps in order already: a copy of each would be garbage.
  if (keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key)) return record;
  // A null prototype, so that a key called __proto__ is a key like any other.
  const result = Object.create(null) as Record<string, unknown>;
  for (const key of keys.toSorted(byCode)) result[key] = record[key];
  return result;
}

/** By code unit, the same on every machine; `localeCompare` is not. */
export function byCode(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
