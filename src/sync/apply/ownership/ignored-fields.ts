/**
 * Leaves the fields alone that `spec.fieldPolicies` of a Pipeline ignores: git's value is for the creation of an object, and other
 * clients own the field from then on. Pure.
 */
import { isRecord, type JsonRecord } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { isApplyOfSync } from '../inventory/owner-labels.ts';

export interface FieldPolicy {
  /** The unit that it is for. Absent: all units. */
  readonly unit?: string;
  readonly kind: string;
  /** The field as `spec.replicas` or `metadata.annotations["example.com/a"]`. */
  readonly path: string;
  readonly policy: 'Ignore';
}

/** Returns the paths that are ignored in the objects of this kind in this unit. */
export function ignoredPaths(
  policies: readonly FieldPolicy[],
  { unit, kind }: { readonly unit: string; readonly kind: string },
): readonly string[] {
  return policies
    .filter((policy) => policy.kind === kind && (policy.unit ?? unit) === unit)
    .map(({ path }) => path);
}

export interface SentObject {
  readonly object: KubeObject;
  /**
   * The version that the object must still have: it contains values of the live object, which must not replace newer ones.
   * Absent: any version.
   */
  readonly resourceVersion?: string;
}

/** Returns the object without the ignored fields, to compare it with a live object. */
export function withoutIgnored(object: KubeObject, paths: readonly string[]): KubeObject {
  return paths.map(stepsOf).reduce((kept, steps) => withField(kept, steps, undefined), object);
}

/**
 * Returns the object to send for a live object, which must have all its managedFields. Fields that sync owns there keep their live
 * value, even if git does not set them any more: a server-side apply without them would remove them. Fields that others own are not
 * sent.
 */
export function leaveIgnored(desired: KubeObject, live: KubeObject, paths: readonly string[]): SentObject {
  const owned = live.metadata.managedFields?.find(isApplyOfSync)?.fieldsV1;
  let object = desired;
  let keepsLive = false;
  for (const steps of paths.map(stepsOf)) {
    const kept = steps.reduce(stepInto, { fields: owned, live });
    const value = ownedPart(kept.fields, kept.live);
    const changed = withField(object, steps, value);
    keepsLive ||= value !== undefined && changed !== object;
    object = changed;
  }
  return { object, ...optional('resourceVersion', keepsLive ? live.metadata.resourceVersion : undefined) };
}

/** Returns the names of the fields on the path. */
export function stepsOf(path: string): readonly string[] {
  return [...path.matchAll(/\["(?<key>[^"]+)"\]|(?<name>[^.[]+)/g)].map(
    ({ groups }) => groups?.['key'] ?? groups?.['name'] ?? '',
  );
}

interface Position {
  readonly fields: unknown;
  readonly live: unknown;
}

function stepInto({ fields, live }: Position, step: string): Position {
  return { fields: member(fields, `f:${step}`), live: member(live, step) };
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Returns the part of a live value that is in a set of managed fields. A list is returned as a whole. */
function ownedPart(fields: unknown, live: unknown): unknown {
  if (fields === undefined || live === undefined) return undefined;
  if (!isRecord(fields) || !isRecord(live)) return live;
  const names = Object.keys(fields).filter((name) => name.startsWith('f:'));
  if (names.length === 0) return live;
  const parts = names.map((name) => [name.slice(2), ownedPart(fields[name], member(live, name.slice(2)))]);
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

/** Returns the record with another value of a field. Without a value the field is removed. */
function withField<T extends JsonRecord>(
  record: T,
  [step = '', ...rest]: readonly string[],
  value: unknown,
): T {
  const before = member(record, step);
  if (before === undefined && value === undefined) return record;
  if (rest.length === 0) {
    const { [step]: _before, ...others } = record;
    return { ...others, ...optional(step, value) } as T;
  }
  const inner = before ?? {};
  if (!isRecord(inner)) return record;
  const after = withField(inner, rest, value);
  return after === inner ? record : { ...record, [step]: after };
}
