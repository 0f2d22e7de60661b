/**
 * Whether a live object still says what git says. Only fields that git sets are looked at: what others add is
 * theirs. Pure.
 */
import { ANNOTATION_COMMIT, ANNOTATION_SOURCE } from '../../api/names.ts';
import { canonicalJson } from '../../kube/objects/digest.ts';
import { isRecord, type JsonRecord } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

/** These two move with every commit and every line, and are renewed only together with something that counts. */
const UNCOUNTED = [ANNOTATION_COMMIT, ANNOTATION_SOURCE];

/** The fields of `wanted` as they stand in `live`, as text. Equal to that of `wanted` itself when all is as git says. */
export function projectionOf(wanted: KubeObject, live: KubeObject): string {
  return canonicalJson(project(withoutUncounted(wanted), live));
}

export function matchesDesired(wanted: KubeObject, live: KubeObject): boolean {
  return projectionOf(wanted, live) === canonicalJson(withoutUncounted(wanted));
}

function project(wanted: unknown, live: unknown): unknown {
  if (isRecord(wanted)) return isRecord(live) ? projectRecord(wanted, live) : (live ?? null);
  if (Array.isArray(wanted) && Array.isArray(live) && wanted.length === live.length) {
    return wanted.map((item, index) => project(item, live[index]));
  }
  return live ?? null;
}

function projectRecord(wanted: JsonRecord, live: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => [
      key,
      project(value, Object.hasOwn(live, key) ? live[key] : null),
    ]),
  );
}

function withoutUncounted(object: KubeObject): KubeObject {
  const { metadata } = object;
  if (!metadata.annotations) return object;
  const annotations = Object.fromEntries(
    Object.entries(metadata.annotations).filter(([key]) => !UNCOUNTED.includes(key)),
  );
  return { ...object, metadata: { ...metadata, annotations } };
}

/** The first fields that differ, for the log and for people: `spec.replicas: 2, git says 3`. */
export function differences(wanted: KubeObject, live: KubeObject, most = 3): string[] {
  const found: string[] = [];
  collect(withoutUncounted(wanted), live, '');
  return found;

  function collect(want: unknown, have: unknown, path: string): void {
    if (found.length >= most || canonicalJson(project(want, have)) === canonicalJson(want ?? null)) return;
    if (isRecord(want) && isRecord(have)) {
      for (const [key, value] of Object.entries(want)) {
        collect(value, have[key], path ? `${path}.${key}` : key);
      }
      return;
    }
    found.push(path);
  }
}
