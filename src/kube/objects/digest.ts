/** Digests of content: the same objects give the same digest, whatever the order of their keys. */
import { hash } from 'node:crypto';
import { isRecord, type JsonRecord } from './json.ts';

/** JSON with sorted keys and without undefined. Lists keep their order: it means something in Kubernetes. */
export function canonicalJson(value: unknown): string {
  // A replacer function would do the same, and takes twice as long.
  return JSON.stringify(inOrder(value));
}

export function digestOf(value: unknown): string {
  return `sha256:${hash('sha256', canonicalJson(value))}`;
}

function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const form = hasOwnForm(value) ? value.toJSON() : value;
  if (isRecord(form)) return sorted(form);
  return Array.isArray(form) ? form.map(inOrder) : form;
}

/** As a Date, which JSON has as text. */
function hasOwnForm(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

function sorted(record: JsonRecord): JsonRecord {
  const keys = Object.keys(record).toSorted();
  // Without a prototype, a key called __proto__ is a key like any other. Such a record is slow, so others have one.
  const result = (keys.includes('__proto__') ? Object.create(null) : {}) as Record<string, unknown>;
  for (const key of keys) result[key] = inOrder(record[key]);
  return result;
}

/** By code unit, the same on every machine; `localeCompare` is not. */
export function byCode(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
