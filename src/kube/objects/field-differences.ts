/** Finds the fields in which two JSON values differ. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonRecord, textAt } from './json.ts';

export interface FieldDifference {
  /** `spec.containers[app].image`, `metadata.labels["example.com/zone"]`, `spec.args[2]` */
  readonly path: string;
  /** Undefined where the field is missing: JSON has no other use for it. */
  readonly before: unknown;
  readonly after: unknown;
}

/** In the order of the fields of `before`, then of `after`. Ignores each path for which `isIgnored` is true. */
export function findFieldDifferences(
  before: unknown,
  after: unknown,
  isIgnored: (path: string) => boolean = () => false,
): FieldDifference[] {
  return compare('', before, after);

  function compare(step: string, left: unknown, right: unknown): FieldDifference[] {
    const path = step.replace(/^\./, '');
    if (isIgnored(path) || isDeepStrictEqual(left, right)) return [];
    const [one, other] = [emptyLike(left, right), emptyLike(right, left)];
    const [ones, others] = [partsOf(one, other), partsOf(other, one)];
    if (ones.shape !== others.shape) return [{ path, before: left, after: right }];
    const keys = [...new Set([...ones.parts.keys(), ...others.parts.keys()])];
    const found = keys.flatMap((key) => compare(step + key, ones.parts.get(key), others.parts.get(key)));
    if (found.length > 0) return found;
    // A scalar, an empty object, or a list in another order. Otherwise every differing field is ignored.
    return keys.length === 0 || isReordered(ones, others) ? [{ path, before: left, after: right }] : [];
  }
}

function isReordered({ shape, parts }: Parts, other: Parts): boolean {
  return shape === 'named' && !isDeepStrictEqual([...parts.keys()], [...other.parts.keys()]);
}

interface Parts {
  readonly shape: 'scalar' | 'fields' | 'named' | 'items';
  /** By their step in the path. */
  readonly parts: ReadonlyMap<string, unknown>;
}

/** An added or removed object or list is shown by its parts, as if the other side were empty. */
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

/** Items are matched by name if every item of both lists has a unique one, otherwise by index. */
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

/** Tells whether a value has all that is declared in it: fields that are not declared belong to others. */
export function matchesValue(desired: unknown, live: unknown): boolean {
  if (isRecord(desired)) return isRecord(live) && matchesRecord(desired, live);
  if (Array.isArray(desired)) return Array.isArray(live) && matchesList(desired, live);
  return desired === (live ?? null);
}

function matchesRecord(desired: JsonRecord, live: JsonRecord): boolean {
  return Object.keys(desired).every((key) =>
    matchesValue(desired[key], Object.hasOwn(live, key) ? live[key] : null),
  );
}

function matchesList(desired: readonly unknown[], live: readonly unknown[]): boolean {
  return desired.length === live.length && desired.every((item, index) => matchesValue(item, live[index]));
}
