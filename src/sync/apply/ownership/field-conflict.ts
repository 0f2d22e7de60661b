/**
 * Finds the fields for which a server-side apply conflicts with other field managers, and whether an earlier manifest set them:
 * then our earlier apply owned them, and their change is drift. Pure.
 */
import type { KubeError } from '../../../kube/client/errors.ts';
import { isRecord } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

/** Returns paths such as `.spec.template.spec.containers[name="web"].image`; none if it is another error. */
export function conflictingFields(error: KubeError): string[] {
  return conflictsIn(error).map(({ field }) => field ?? '');
}

/** Returns the names of the field managers. The text of a conflict is `conflict with "helm" using v1`. */
export function conflictingManagers(error: KubeError): string[] {
  return conflictsIn(error).flatMap(({ message = '' }) => MANAGER.exec(message)?.groups?.['manager'] ?? []);
}

const MANAGER = /^conflict with "(?<manager>[^"]+)"/;

function conflictsIn({ causes }: KubeError): KubeError['causes'] {
  return causes.filter(({ reason }) => reason === 'FieldManagerConflict');
}

export function setsField(object: KubeObject, path: string): boolean {
  return path !== '' && hasPath(object, path);
}

function hasPath(value: unknown, path: string): boolean {
  if (path === '') return true;
  if (path.startsWith('.')) return isRecord(value) && hasMember(value, path.slice(1));
  return Array.isArray(value) && hasItem(value, path);
}

/** Tells whether the path leads to a field of the record. A key may contain dots and brackets itself, so each key that fits is tried. */
function hasMember(record: Readonly<Record<string, unknown>>, path: string): boolean {
  return Object.entries(record).some(([key, value]) => {
    const rest = path.slice(key.length);
    return path.startsWith(key) && /^($|[.[])/.test(rest) && hasPath(value, rest);
  });
}

const KEYS = /^\[(?<keys>[^="]+=(?:"(?:[^"\\]|\\.)*"|[^,\]]+)(?:,[^="]+=(?:"(?:[^"\\]|\\.)*"|[^,\]]+))*)\]/;
const KEY = /(?<name>[^=",]+)=(?<value>"(?:[^"\\]|\\.)*"|[^,\]]+)/g;
const VALUE = /^\[=(?<value>"(?:[^"\\]|\\.)*"|[^\]]+)\]/;

/**
 * Tells whether an item fits a path such as `[name="web"]`, `[port=80,protocol="TCP"]` or, in a set, `[="finalizer"]`. A key that
 * the manifest leaves out is a default.
 */
function hasItem(items: readonly unknown[], path: string): boolean {
  const set = VALUE.exec(path);
  if (set) {
    return items.some((item) => JSON.stringify(item) === set.groups?.['value']) && path === set[0];
  }
  const associative = KEYS.exec(path);
  if (!associative) return false;
  const keys = [...(associative.groups?.['keys'] ?? '').matchAll(KEY)].map(({ groups }) => groups ?? {});
  const rest = path.slice(associative[0].length);
  return items.some(
    (item) =>
      isRecord(item) &&
      keys.every(
        ({ name = '', value }) => item[name] === undefined || JSON.stringify(item[name]) === value,
      ) &&
      hasPath(item, rest),
  );
}
