/** As much of RFC 6902 as controllers send: test, add and remove, of fields and of entries of lists. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { KubeError } from '../../kube/client/errors.ts';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import { isRecord } from '../../kube/objects/json.ts';

export function patchDocument(document: unknown, operations: readonly JsonPatchOperation[]): unknown {
  return operations.reduce((value, operation) => {
    const [, ...path] = operation.path.split('/');
    return patchAt(
      value,
      path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
      operation,
    );
  }, document);
}

function patchAt(value: unknown, [part, ...rest]: readonly string[], operation: JsonPatchOperation): unknown {
  if (part === undefined) return replaced(value, operation);
  if (Array.isArray(value)) return patchEntry(value, part, operation);
  const fields = isRecord(value) ? value : {};
  if (rest.length > 0) return { ...fields, [part]: patchAt(fields[part], rest, operation) };
  if (operation.op !== 'remove') return { ...fields, [part]: replaced(fields[part], operation) };
  const { [part]: removed, ...others } = fields;
  if (removed === undefined) throw new KubeError('Invalid', `remove ${operation.path}: no such field`);
  return others;
}

function patchEntry(
  list: readonly unknown[],
  part: string,
  operation: JsonPatchOperation,
): readonly unknown[] {
  const index = part === '-' ? list.length : Number(part);
  if (operation.op === 'remove') return list.toSpliced(index, 1);
  if (operation.op === 'add') return list.toSpliced(index, 0, operation.value);
  return list.with(index, replaced(list[index], operation));
}

function replaced(value: unknown, operation: JsonPatchOperation): unknown {
  if (operation.op === 'remove') return undefined;
  if (operation.op !== 'test') return operation.value;
  if (!isDeepStrictEqual(value, operation.value)) {
    throw new KubeError('Conflict', `test ${operation.path} failed`);
  }
  return value;
}
