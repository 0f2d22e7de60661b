/** Finds the fields of an object that this version does not act on. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { valueAt } from '../../kube/objects/json.ts';
import { GROUP } from '../names.ts';
import type { Candidate, Problem } from '../validation/validate.ts';
import type { InactiveField } from './field.ts';
import { INACTIVE_FIELDS } from './fields.ts';

/** A value in the object, with its path and the record that contains it or the list of it. */
interface Place {
  readonly path: string;
  readonly value: unknown;
  readonly parent: unknown;
}

/** Returns the inactive fields of an object as git contains it, or as a server stores it: fields that have a default may be absent. */
export function inactiveFields(object: Candidate): readonly Problem[] {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || !apiVersion.startsWith(`${GROUP}/`)) return [];
  const fields =
    typeof kind === 'string' && Object.hasOwn(INACTIVE_FIELDS, kind) ? INACTIVE_FIELDS[kind] : [];
  return (fields ?? [])
    .filter(({ unless = [] }) => unless.every((path) => valueAt(object, ...path.split('.')) === undefined))
    .filter(({ whenNotAt }) => !whenNotAt || !hasValueAt(object, whenNotAt))
    .flatMap((field) => problemsOf(object, field));
}

function hasValueAt(value: unknown, [path, expected]: readonly [path: string, value: unknown]): boolean {
  return valueAt(value, ...path.split('.')) === expected;
}

function problemsOf(value: unknown, field: InactiveField): readonly Problem[] {
  return placesOf(value, field.path)
    .filter((place) => isInactive(field, place))
    .map(({ path }) => ({ path, message: messageOf(field) }));
}

/** Formats a problem: `spec.rollout.partition: not supported in this version, …`. */
export function inactiveFieldText({ path, message }: Problem): string {
  return `${path}: ${message}`;
}

function isInactive(field: InactiveField, { value, parent }: Place): boolean {
  const { accepts = [] } = field;
  if (value === undefined || value === null) return false;
  if (Array.isArray(value) && value.length === 0) return false;
  if (!isFor(field, parent)) return false;
  return !accepts.some((accepted) => isDeepStrictEqual(accepted, value));
}

type Beside = Pick<InactiveField, 'when' | 'whenSet' | 'whenNot'>;

function isFor({ when, whenSet, whenNot }: Beside, parent: unknown): boolean {
  if (whenSet !== undefined && valueAt(parent, whenSet) === undefined) return false;
  if (when && valueAt(parent, when[0]) !== when[1]) return false;
  return !whenNot || valueAt(parent, whenNot[0]) !== whenNot[1];
}

function messageOf({ because, accepts = [] }: InactiveField): string {
  const start = `not supported in this version, because ${because}`;
  const texts = accepts.filter((value) => typeof value === 'string');
  return texts.length > 0 ? `${start}: use ${texts.join(', ')}` : `${start}: remove it`;
}

function placesOf(object: unknown, path: string): readonly Place[] {
  const start: readonly Place[] = [{ path: '', value: object, parent: undefined }];
  return path.split('.').reduce((places, part) => places.flatMap((place) => childrenOf(place, part)), start);
}

function childrenOf({ path, value }: Place, part: string): readonly Place[] {
  const name = part.replace(/\[\]$/, '');
  const child = valueAt(value, name);
  const at = path === '' ? name : `${path}.${name}`;
  if (name === part) return [{ path: at, value: child, parent: value }];
  const entries = Array.isArray(child) ? (child as readonly unknown[]) : [];
  return entries.map((entry, index) => ({ path: `${at}[${index}]`, value: entry, parent: value }));
}
