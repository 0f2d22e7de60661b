/** Makes objects of our kinds fit their schema, whatever texts of servers, people and git they hold. */
import { truncate } from '../../kube/objects/truncate.ts';
import type { Failure } from './runtime.ts';
import { type Candidate, schemaFailures } from './validate.ts';

/**
 * Returns a copy in which no text and no list is longer than the schema of its kind allows: the API server would refuse the whole object.
 * Lone surrogates are replaced, as the server does, so that an object that was read back equals the one written.
 */
export function truncateToSchema<T extends Candidate>(object: T): T {
  const copy = withWellFormedTexts(object);
  for (const failure of schemaFailures(copy)) {
    if (failure.keyword === 'maxLength' || failure.keyword === 'maxItems') truncateAt(copy, failure);
  }
  return copy;
}

/** Shortens the value at the path of a failure. A path through an entry that was cut off already leads nowhere. */
function truncateAt(object: object, { instancePath, params: { limit = 0 } }: Failure): void {
  const path = instancePath.split('/').slice(1);
  const field = path.at(-1) ?? '';
  const parent = path.slice(0, -1).reduce<unknown>(childOf, object);
  const value = childOf(parent, field);
  if (typeof parent !== 'object' || parent === null) return;
  if (typeof value === 'string') Reflect.set(parent, nameOf(field), truncate(value, limit));
  if (Array.isArray(value)) Reflect.set(parent, nameOf(field), value.slice(0, limit));
}

function childOf(parent: unknown, part: string): unknown {
  return typeof parent === 'object' && parent !== null ? Reflect.get(parent, nameOf(part)) : undefined;
}

/** Decodes a part of a JSON pointer. */
function nameOf(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function withWellFormedTexts<T>(value: T): T {
  return mapTexts(value) as T;
}

function mapTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(mapTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key.toWellFormed(), mapTexts(field)]),
  );
}
