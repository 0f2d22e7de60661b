/** What is different between two objects, field by field, as data and as text. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from './json.ts';
import { isSecret, isSecretPath, LAST_APPLIED, MASK } from './mask.ts';
import type { KubeObject } from './object.ts';

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
export function differences(before: KubeObject, after: KubeObject): Difference[] {
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
  const [left, right] = [partsOf(before), partsOf(after)];
  if (!areAlike(left, right)) return [{ path, before, after }];
  const keys = [...new Set([...left.parts.keys(), ...right.parts.keys()])];
  const found = keys.flatMap((key) => compare(path + key, left.parts.get(key), right.parts.get(key)));
  // A scalar, an empty object that appears, or a list whose items only changed places.
  return found.length > 0 || keys.some((key) => IGNORED.has(path + key)) ? found : [{ path, before, after }];
}

/** What appears or goes is shown by its parts too. */
function areAlike({ shape: left }: Parts, { shape: right }: Parts): boolean {
  return left === right || left === 'nothing' || right === 'nothing';
}

interface Parts {
  readonly shape: 'nothing' | 'scalar' | 'fields' | 'named' | 'items';
  /** By what they add to the path. */
  readonly parts: ReadonlyMap<string, unknown>;
}

function partsOf(value: unknown): Parts {
  if (isRecord(value)) {
    return {
      shape: 'fields',
      parts: new Map(Object.entries(value).map(([key, part]) => [fieldStep(key), part])),
    };
  }
  if (!Array.isArray(value)) return { shape: value === undefined ? 'nothing' : 'scalar', parts: new Map() };
  const items = value as readonly unknown[];
  if (items.length === 0) return { shape: 'nothing', parts: new Map() };
  const names = items.map((item) =>
    isRecord(item) && typeof item['name'] === 'string' ? item['name'] : undefined,
  );
  const named = new Set(names).size === items.length && !names.includes(undefined);
  const steps = items.map((_, index) => `[${named ? names[index] : index}]`);
  return {
    shape: named ? 'named' : 'items',
    parts: new Map(steps.map((step, index) => [step, items[index]])),
  };
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
export function differenceLines(found: readonly Difference[]): string[] {
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
