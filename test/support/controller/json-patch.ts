/** As much of RFC 6902 as controllers use: test, add, replace, remove. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../src/kube/objects/json.ts';

export class JsonPatchFailed extends Error {}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

export function patchJson(document: unknown, operations: readonly Operation[]): unknown {
  return operations.reduce((value, operation) => {
    const path = operation.path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    return patchAt(value, path, operation);
  }, document);
}

function patchAt(value: unknown, [part, ...rest]: readonly string[], operation: Operation): unknown {
  if (part === undefined) return patchHere(value, operation);
  if (Array.isArray(value)) return patchList(value, [part, ...rest], operation);
  if (!isRecord(value)) throw new JsonPatchFailed(`${operation.op} ${operation.path}: no such path`);
  if (rest.length > 0) return { ...value, [part]: patchAt(value[part], rest, operation) };
  if (operation.op === 'remove') {
    if (!Object.hasOwn(value, part)) throw new JsonPatchFailed(`remove ${operation.path}: no such path`);
    const { [part]: _, ...others } = value;
    return others;
  }
  const next = patchHere(value[part], operation);
  return operation.op === 'test' ? value : { ...value, [part]: next };
}

function patchList(
  list: readonly unknown[],
  [part = '', ...rest]: readonly string[],
  operation: Operation,
): unknown {
  const index = part === '-' ? list.length : Number(part);
  const adds = rest.length === 0 && operation.op === 'add';
  if (index > list.length || (index === list.length && !adds)) {
    throw new JsonPatchFailed(`${operation.op} ${operation.path}: no such entry`);
  }
  if (adds) return list.toSpliced(index, 0, operation.value);
  return patchEntry(list, index, { rest, operation });
}

function patchEntry(
  list: readonly unknown[],
  index: number,
  { rest, operation }: { readonly rest: readonly string[]; readonly operation: Operation },
): unknown {
  if (rest.length === 0 && operation.op === 'remove') return list.toSpliced(index, 1);
  const next = patchAt(list[index], rest, operation);
  return operation.op === 'test' ? list : list.with(index, next);
}

function patchHere(value: unknown, { op, path, value: operand }: Operation): unknown {
  if (op === 'test' && !isDeepStrictEqual(value, operand)) throw new JsonPatchFailed(`test ${path} failed`);
  return op === 'test' ? value : operand;
}
