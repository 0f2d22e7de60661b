/** The differences between two objects as data and as text, with Secrets masked. Pure. */
import { type FieldDifference, findFieldDifferences } from './field-differences.ts';
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

/** Fields that the server maintains, and `status`, which is not declared. */
const IGNORED: ReadonlySet<string> = new Set([
  ...['managedFields', 'resourceVersion', 'generation', 'creationTimestamp', 'uid', 'selfLink'].map(
    (field) => `metadata.${field}`,
  ),
  `metadata.annotations["${LAST_APPLIED}"]`,
  'status',
]);

/** Sorted by path. Values of a Secret are compared first and masked afterwards. */
export function diffObjects(before: KubeObject, after: KubeObject): Difference[] {
  const mask = isSecret(before) || isSecret(after);
  return findFieldDifferences(before, after, (path) => IGNORED.has(path))
    .map((found) => toDifference(found, mask))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function toDifference({ path, before, after }: FieldDifference, mask: boolean): Difference {
  const hidden = mask && isSecretPath(`.${path}`);
  const show = (value: unknown): unknown => (hidden ? MASK : value);
  const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  return {
    path,
    change,
    ...(before === undefined ? {} : { before: show(before) }),
    ...(after === undefined ? {} : { after: show(after) }),
  };
}

const SIGNS = { added: '+', removed: '-', changed: '~' } as const;
// Fits a line of a terminal or of a pull request; the data keeps the whole value.
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
