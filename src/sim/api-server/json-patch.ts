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

/** Returns the value itself where nothing changes. */
function patchAt(value: unknown, [part, ...rest]: readonly string[], operation: JsonPatchOperation): unknown {
  if (part === undefined) return patchHere(value, operation);
  if (Array.isArray(value)) return patchList(value, [part, ...rest], operation);
  if (!isRecord(value)) throw missing(operation);
  if (rest.length === 0 && operation.op !== 'test') return patchField(value, part, operation);
  if (!Object.hasOwn(value, part)) return absent(value, operation);
  const next = patchAt(value[part], rest, operation);
  return next === value[part] ? value : { ...value, [part]: next };
}

/** The API server takes the replacement of a field that is missing, too. */
function patchField(record: JsonRecord, field: string, operation: JsonPatchOperation): JsonRecord {
  if (operation.op !== 'remove') return { ...record, [field]: operation.value };
  if (!Object.hasOwn(record, field)) throw missing(operation);
  const { [field]: _, ...others } = record;
  return others;
}

function patchList(
  list: readonly unknown[],
  [part = '', ...rest]: readonly string[],
  operation: JsonPatchOperation,
): readonly unknown[] {
  if (rest.length === 0 && operation.op !== 'test') return patchEntry(list, part, operation);
  const index = Number(part);
  if (!(index < list.length)) throw missing(operation);
  const next = patchAt(list[index], rest, operation);
  return next === list[index] ? list : list.with(index, next);
}

function patchEntry(
  list: readonly unknown[],
  part: string,
  operation: JsonPatchOperation,
): readonly unknown[] {
  const adds = operation.op === 'add';
  const index = part === '-' ? list.length : Number(part);
  if (!(index < list.length || (adds && index === list.length))) throw missing(operation);
  return list.toSpliced(index, adds ? 0 : 1, ...(operation.op === 'remove' ? [] : [operation.value]));
}

function patchHere(value: unknown, { op, path, value: operand }: JsonPatchOperation): unknown {
  if (op !== 'test') return operand;
  if (!isDeepStrictEqual(value, operand)) throw new JsonPatchFailed(`test ${path} failed`);
  return value;
}

/** A test for null holds where nothing is. */
function absent(value: unknown, operation: JsonPatchOperation): unknown {
  if (operation.op === 'test' && operation.value === null) return value;
  throw missing(operation);
}

function missing({ op, path }: JsonPatchOperation): JsonPatchFailed {
  return new JsonPatchFailed(`${op} ${path}: no such path`);
}
