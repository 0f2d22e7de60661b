/** Finds the fields of a write that a controller has not declared. Pure. */
import { isRecord, valueAt } from '../../objects/json.ts';
import type { KubeObject } from '../../objects/object.ts';
import {
  entryKeyField,
  entryStep,
  fieldText,
  meets,
  type PathStep,
  parseFieldPath,
  stepOfEntry,
} from './field-path.ts';

/** The fields that identify the object and do not change it. */
const IDENTITY: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'metadata.resourceVersion',
]);

export interface JsonPatchOperation {
  readonly op: 'test' | 'add' | 'replace' | 'remove';
  /** The field as a JSON pointer: `/spec/taints/0`. */
  readonly path: string;
  readonly value?: unknown;
}

/** Returns the fields of this object that no declared path covers, as `status.conditions[Ready]`. */
export function undeclaredFields(
  kind: string,
  object: Readonly<Record<string, unknown>>,
  declared: readonly string[],
): readonly string[] {
  return undeclared(object, { steps: [], open: pathsOf(kind, declared) });
}

/**
 * Returns the fields of a JSON patch of this object that no declared path covers. A patch of a path replaces or removes all that is below
 * it, so that the path itself has to be declared; only where nothing is yet, what is added counts.
 */
export function undeclaredPatches(
  object: KubeObject,
  operations: readonly JsonPatchOperation[],
  declared: readonly string[],
): readonly string[] {
  const open = pathsOf(object.kind, declared);
  return operations.flatMap((operation) => {
    const { present, paths } = touchedBy(operation, object);
    return paths.flatMap((steps) => {
      const rest = steps.reduce(narrow, open);
      const added = operation.op === 'add' && !present ? operation.value : undefined;
      return undeclared(added, { steps, open: rest });
    });
  });
}

interface Position {
  readonly steps: readonly PathStep[];
  /** The rest of each declared path that leads here. */
  readonly open: readonly (readonly PathStep[])[];
}

function undeclared(value: unknown, { steps, open }: Position): readonly string[] {
  const text = fieldText(steps);
  if (open.some(({ length }) => length === 0) || IDENTITY.has(text)) return [];
  const children = childrenOf(value);
  // Metadata holds the name also where nothing in it is declared.
  if (children.length === 0 || (open.length === 0 && steps.length > 0 && text !== 'metadata')) return [text];
  return children.flatMap(([step, child]) =>
    undeclared(child, { steps: [...steps, step], open: narrow(open, step) }),
  );
}

function childrenOf(value: unknown): readonly (readonly [PathStep, unknown])[] {
  if (Array.isArray(value)) return value.map((entry, n) => [stepOfEntry(entry, n), withoutKey(entry)]);
  return isRecord(value) ? Object.entries(value) : [];
}

/** Returns an entry without its key. The key identifies the entry; alone it does not change it. */
function withoutKey(entry: unknown): unknown {
  const key = entryKeyField(entry);
  if (key === undefined || !isRecord(entry)) return entry;
  const { [key]: _, ...rest } = entry;
  return rest;
}

/**
 * Returns the rest of each declared path that continues with this step. A key of a map may be declared as an entry, too:
 * `labels[kubenode.dev/pool]`.
 */
function narrow(open: Position['open'], step: PathStep): Position['open'] {
  return open
    .filter(([first = '']) => meets(step, first) || meets(entryStep(step), first))
    .map(([, ...rest]) => rest);
}

function pathsOf(kind: string, declared: readonly string[]): Position['open'] {
  return declared
    .map(parseFieldPath)
    .filter((path) => path.kind === kind)
    .map(({ steps }) => steps);
}

interface Touched {
  /** Whether something is at this path already, and would be replaced. */
  readonly present: boolean;
  readonly paths: readonly (readonly PathStep[])[];
}

/**
 * Returns the paths that an operation touches. An index of a list is turned into the key of the entry that is there, and of the one that is
 * put there.
 */
function touchedBy({ op, path, value }: JsonPatchOperation, object: KubeObject): Touched {
  if (op === 'test') return { present: false, paths: [] };
  const parts = path.split('/').slice(1).map(unescapePointer);
  const parents = parts.slice(0, -1).map((part, depth) => stepAt(object, parts.slice(0, depth), part));
  const last = parts.at(-1) ?? '';
  const list = valueAtPointer(object, parts.slice(0, -1));
  if (!Array.isArray(list)) {
    return { present: valueAtPointer(object, parts) !== undefined, paths: [[...parents, last]] };
  }
  const before = stepOfEntry(list[Number(last)], Number(last));
  const after = stepOfEntry(value, list.length);
  const steps = { add: [after], remove: [before], replace: [before, after] }[op];
  return { present: false, paths: steps.map((step) => [...parents, step]) };
}

function stepAt(object: KubeObject, parents: readonly string[], part: string): PathStep {
  const parent = valueAtPointer(object, parents);
  return Array.isArray(parent) ? stepOfEntry(parent[Number(part)], Number(part)) : part;
}

function valueAtPointer(object: KubeObject, parts: readonly string[]): unknown {
  return parts.reduce<unknown>(
    (at, part) => (Array.isArray(at) ? at[Number(part)] : valueAt(at, part)),
    object,
  );
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
