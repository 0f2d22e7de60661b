/**
 * Compares a live object with what git declares. Only fields that git sets are compared: fields that others add belong to
 * them. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { ANNOTATION_COMMIT, ANNOTATION_SOURCE } from '../../api/names.ts';
import { canonicalJson } from '../../kube/objects/digest.ts';
import { findFieldDifferences, matchesValue } from '../../kube/objects/field-differences.ts';
import { isRecord, type JsonRecord } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

/** These two change with every commit and every moved line. They are written only together with another change. */
const NOT_COMPARED = [ANNOTATION_COMMIT, ANNOTATION_SOURCE];

/** The fields of `desired` with the values of `live`, as text. Equal to the text of `desired` when nothing drifted. */
export function projectionOf(desired: KubeObject, live: KubeObject): string {
  return canonicalJson(project(comparedFields(desired), live));
}

/** Whether `projectionOf` is the text of `desired`. Asked for every object after every apply, so it builds no texts. */
export function matchesDesired(desired: KubeObject, live: KubeObject): boolean {
  return matchesValue(comparedFields(desired), live);
}

/** Paths of the first fields that differ, for log messages: `spec.replicas`. */
export function driftedFields(desired: KubeObject, live: KubeObject, most = 3): string[] {
  const compared = comparedFields(desired);
  return findFieldDifferences(compared, project(compared, live))
    .slice(0, most)
    .map(({ path }) => path);
}

function project(desired: unknown, live: unknown): unknown {
  if (isRecord(desired)) return isRecord(live) ? projectRecord(desired, live) : (live ?? null);
  if (Array.isArray(desired) && Array.isArray(live) && desired.length === live.length) {
    return desired.map((item, index) => project(item, live[index]));
  }
  return live ?? null;
}

function projectRecord(desired: JsonRecord, live: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(desired).map(([key, value]) => [
      key,
      project(value, Object.hasOwn(live, key) ? live[key] : null),
    ]),
  );
}

/** Returns the object without what changes with every commit. */
export function comparedFields(object: KubeObject): KubeObject {
  const { metadata } = object;
  if (!metadata.annotations) return object;
  const annotations = Object.fromEntries(
    Object.entries(metadata.annotations).filter(([key]) => !NOT_COMPARED.includes(key)),
  );
  return { ...object, metadata: { ...metadata, annotations } };
}

interface ComparedContent {
  readonly unit: string;
  /** The digest of what git declares. */
  readonly digest: string;
  /** The paths of fields that are not compared. */
  readonly ignored: readonly string[];
}

/** Live objects are never changed in place, so one comparison per object, digest and ignored fields is enough. */
const comparisons = new WeakMap<KubeObject, ComparedContent & { readonly same: boolean }>();

export function comparedBefore(live: KubeObject, content: ComparedContent, compare: () => boolean): boolean {
  const before = comparisons.get(live);
  if (before && isSameContent(before, content)) return before.same;
  const same = compare();
  comparisons.set(live, { ...content, same });
  return same;
}

/** Tells whether this live object was compared with this content, and matched it. */
export function matchedBefore(live: KubeObject, content: ComparedContent): boolean {
  const before = comparisons.get(live);
  return before !== undefined && isSameContent(before, content) && before.same;
}

function isSameContent(a: ComparedContent, b: ComparedContent): boolean {
  return a.unit === b.unit && a.digest === b.digest && isDeepStrictEqual(a.ignored, b.ignored);
}
