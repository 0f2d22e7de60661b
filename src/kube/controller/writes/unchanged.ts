/**
 * Whether a server-side apply would change nothing. An apply sets the fields that it sends and removes those that its
 * manager owned and no longer sends; so nothing changes when the manager owns exactly the fields of the intent and each
 * has its value already. Pure. In doubt the answer is no, and the server decides.
 */
import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonRecord } from '../../objects/json.ts';
import type { KubeObject, ManagedFields } from '../../objects/object.ts';

export interface AppliedBy {
  readonly fieldManager: string;
  /** `status`, for an apply to that subresource. */
  readonly subresource?: string;
}

/** Without these an intent and an object are compared: they say which object is meant. */
const IDENTITY: ReadonlySet<string> = new Set(['apiVersion', 'kind']);
const IDENTITY_METADATA: ReadonlySet<string> = new Set(['name', 'namespace', 'uid', 'resourceVersion']);

/** `live` with its managedFields, at least those of this manager. */
export function isUnchanged(intent: KubeObject, live: KubeObject, applied: AppliedBy): boolean {
  const { managedFields } = live.metadata;
  if (managedFields === undefined) return false;
  const { metadata, ...fields } = without(intent, IDENTITY);
  const rest = without(isRecord(metadata) ? metadata : {}, IDENTITY_METADATA);
  const desired = Object.keys(rest).length > 0 ? { ...fields, metadata: rest } : fields;
  const owned = ownedBy(managedFields, applied);
  return owned === undefined ? Object.keys(desired).length === 0 : isSame(desired, live, owned);
}

function ownedBy(managed: readonly ManagedFields[], { fieldManager, subresource }: AppliedBy): unknown {
  return managed.find(
    (entry) =>
      entry.manager === fieldManager &&
      entry.operation === 'Apply' &&
      (entry.subresource ?? '') === (subresource ?? ''),
  )?.fieldsV1;
}

/** `owned` is a node of fieldsV1: `f:` fields, `k:` entries by key, `v:` values of a set; without children a leaf. */
function isSame(desired: unknown, live: unknown, owned: unknown): boolean {
  if (!isRecord(owned)) return false;
  const parts = Object.keys(owned).filter((part) => part !== '.');
  // A leaf, or a list or map that is owned as a whole.
  if (parts.length === 0) return isDeepStrictEqual(desired, live);
  if (Array.isArray(desired)) return Array.isArray(live) && isSameList(desired, live, owned);
  if (!isRecord(desired) || !isRecord(live)) return false;
  const fields = Object.keys(desired);
  return (
    fields.length === parts.length &&
    fields.every(
      (field) =>
        Object.hasOwn(owned, `f:${field}`) && isSame(desired[field], live[field], owned[`f:${field}`]),
    )
  );
}

function isSameList(desired: readonly unknown[], live: readonly unknown[], owned: JsonRecord): boolean {
  const parts = Object.keys(owned).filter((part) => part !== '.');
  if (parts.length !== desired.length) return false;
  return parts.every((part) => {
    const found = finderOf(part);
    const [one, other] = found ? [desired.find(found), live.find(found)] : [];
    return (
      one !== undefined && other !== undefined && (part.startsWith('v:') || isSame(one, other, owned[part]))
    );
  });
}

/** Which entry `k:{"type":"Ready"}` or `v:"a"` means; undefined for any other form. */
function finderOf(part: string): ((entry: unknown) => boolean) | undefined {
  const key = parsed(part.slice(2));
  if (part.startsWith('v:')) return (entry) => isDeepStrictEqual(entry, key);
  if (!part.startsWith('k:') || !isRecord(key)) return undefined;
  return (entry) =>
    isRecord(entry) && Object.entries(key).every(([field, value]) => isDeepStrictEqual(entry[field], value));
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function without(record: JsonRecord, keys: ReadonlySet<string>): JsonRecord {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.has(key)));
}
