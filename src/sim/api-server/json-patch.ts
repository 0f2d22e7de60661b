/** Applies as much of RFC 6902 as controllers send: test, add, replace and remove. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import { isRecord, type JsonRecord } from '../../kube/objects/json.ts';

export class JsonPatchFailed extends Error {}

export function patchJson(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  return operations.reduce((value, operation) => {
    const [, ...path] = operation.path.split('/');
    return patchAt(
      value,
      path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
      operation,
    );
  }, document);
}

const SETS: ReadonlySet<string> = new Set(['add', 'replace']);

/** Returns the value itself where nothing changes. */
function patchAt(value: unknown, [part, ...rest]: readonly string[], operation: JsonPatchOperation): unknown {
  if (part === undefined) return patchHere(value, operation);
  if (Array.isArray(value)) return patchList(value, [part, ...rest], operation);
  if (!isRecord(value)) throw missing(operation);
  // The API server takes the replacement of a field that is missing, too.
  if (rest.length === 0 && SETS.has(operation.op)) return { ...value, [part]: operation.value };
  if (!Object.hasOwn(value, part)) return absent(value, operation);
  if (rest.length === 0 && operation.op === 'remove') return withoutField(value, part);
  const next = patchAt(value[part], rest, operation);
  return next === value[part] ? value : { ...value, [part]: next };
}

function patchList(
  list: readonly unknown[],
  [part = '', ...rest]: readonly string[],
  operation: JsonPatchOperation,
): readonly unknown[] {
  const index = part === '-' ? list.length : Number(part);
  const adds = rest.length === 0 && operation.op === 'add';
  if (!(index < list.length || (adds && index === list.length))) throw missing(operation);
  if (adds) return list.toSpliced(index, 0, operation.value);
  if (rest.length === 0 && operation.op === 'remove') return list.toSpliced(index, 1);
  const next = patchAt(list[index], rest, operation);
  return next === list[index] ? list : list.with(index, next);
}

function patchHere(value: unknown, { op, path, value: operand }: JsonPatchOperation): unknown {
  if (op !== 'test') return operand;
  if (!isDeepStrictEqual(value, operand)) throw new JsonPatchFailed(`test ${path} failed`);
  return value;
}

function withoutField(record: JsonRecord, field: string): JsonRecord {
  const { [field]: _, ...others } = record;
  return others;
}

/** A test for null holds where nothing is. */
function absent(value: unknown, operation: JsonPatchOperation): unknown {
  if (operation.op === 'test' && operation.value === null) return value;
  throw missing(operation);
}

function missing({ op, path }: JsonPatchOperation): JsonPatchFailed {
  return new JsonPatchFailed(`${op} ${path}: no such path`);
}
