/** What is different between two objects, field by field, as data and as text. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, textAt } from './json.ts';
import type { KubeObject } from './object.ts';
import { isSecret, isSecretPath, LAST_APPLIED, MASK } from './redact-secret.ts';

export interface Difference {
  /** `spec.containers[app].image`, `metadata.labels["example.com/zone"]`, `spec.args[2]` */
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** Masked in a Secret. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** The server's own bookkeeping; and `status`, which is no part of what is declared. */
const IGNORED: ReadonlySet<string> = new Set([
  ...['managedFields', 'resourceVersion', 'generation', 'creationTimestamp', 'uid', 'selfLink'].map(
    (field) => `.metadata.${field}`,
  ),
  `.metadata.annotations["${LAST_APPLIED}"]`,
  '.status',
]);

/** In the order of paths. Values of a Secret are compared, and then masked. */
export function diffObjects(before: KubeObject, after: KubeObject): Difference[] {
  const mask = isSecret(before) || isSecret(after);
  return compare('', before, after)
    .map((found) => shown(found, mask))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

interface Found {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** `undefined` stands for what is not there: JSON has no other use for it. */
function compare(path: string, before: unknown, after: unknown): Found[] {
  if (IGNORED.has(path) || isDeepStrictEqual(before, after)) return [];
  const [some, others] = [emptyLike(before, after), emptyLike(after, before)];
  const [left, right] = [partsOf(some, others), partsOf(others, some)];
  if (left.shape !== right.shape) return [{ path, before, after }];
  const keys = [...new Set([...left.parts.keys(), ...right.parts.keys()])];
  const found = keys.flatMap((key) => compare(path + key, left.parts.get(key), right.parts.get(key)));
  if (found.length > 0) return found;
  // A scalar or an empty object; or a list whose items only changed places. Else all that differs is ignored.
  return keys.length === 0 || isReordered(left, right) ? [{ path, before, after }] : [];
}

function isReordered({ shape, parts }: Parts, other: Parts): boolean {
  return shape === 'named' && !isDeepStrictEqual([...parts.keys()], [...other.parts.keys()]);
}

interface Parts {
  readonly shape: 'scalar' | 'fields' | 'named' | 'items';
  /** By what they add to the path. */
  readonly parts: ReadonlyMap<string, unknown>;
}

/** What appears or goes is shown by its parts, as if it had been there and empty. */
function emptyLike(value: unknown, other: unknown): unknown {
  if (value !== undefined) return value;
  if (isRecord(other)) return {};
  return Array.isArray(other) ? [] : undefined;
}

function partsOf(value: unknown, other: unknown): Parts {
  if (isRecord(value)) {
    return {
      shape: 'fields',
      parts: new Map(Object.entries(value).map(([key, part]) => [fieldStep(key), part])),
    };
  }
  if (Array.isArray(value)) return itemsOf(value, Array.isArray(other) ? other : []);
  return { shape: 'scalar', parts: new Map() };
}

/** Items are told apart by their names, where all of both lists have one of their own; else by their places. */
function itemsOf(items: readonly unknown[], others: readonly unknown[]): Parts {
  const named = areNamed(items) && areNamed(others);
  const steps = items.map((item, index) => `[${named ? nameOf(item) : index}]`);
  return {
    shape: named ? 'named' : 'items',
    parts: new Map(steps.map((step, index) => [step, items[index]])),
  };
}

function areNamed(items: readonly unknown[]): boolean {
  const names = items.map(nameOf);
  return new Set(names).size === items.length && !names.includes(undefined);
}

function nameOf(item: unknown): string | undefined {
  return textAt(item, 'name');
}

function fieldStep(key: string): string {
  return /^[A-Za-z_][\w-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function shown({ path, before, after }: Found, mask: boolean): Difference {
  const hidden = mask && isSecretPath(path);
  const show = (value: unknown): unknown => (hidden ? MASK : value);
  const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return {
    path: path.replace(/^\./, ''),
    change,
    ...(before === undefined ? {} : { before: show(before) }),
    ...(after === undefined ? {} : { after: show(after) }),
  };
}

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;
// A line of a terminal or of a pull request; the data has the whole.
const LONGEST_VALUE = 200;

/** A line each: `~ spec.replicas: 1 → 2`. */
export function formatDifferences(found: readonly Difference[]): string[] {
  return found.map((difference) => {
    const { path, change, before, after } = difference;
    const values =
      change === 'changed' ? `${text(before)} → ${text(after)}` : text(change === 'added' ? after : before);
    return `${SIGNS[change]} ${path}: ${values}`;
  });
}

function text(value: unknown): string {
  if (value === MASK) return MASK;
  const json = JSON.stringify(value) ?? 'nothing';
  return json.length > LONGEST_VALUE ? `${json.slice(0, LONGEST_VALUE)}…` : json;
}
