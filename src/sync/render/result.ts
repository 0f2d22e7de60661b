/** Parses the output of a sandboxed process, in the render worker. It is untrusted data, so every field is checked. */
import { byCode, digestOf } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { printableText } from '../../kube/objects/printable.ts';
import { shapeReason } from '../../kube/objects/shape.ts';
import type { RenderedObject, RenderedTarget, RenderedUnit } from '../rendered.ts';
import { withSharedDependencies } from '../unit-order/dependencies.ts';
import { RENDER_ERROR_CODES, RenderError, type RenderErrorCode, type RenderProblem } from './errors.ts';

export interface RenderResult {
  readonly targets: readonly RenderedTarget[];
  readonly warnings: readonly string[];
}

// Targets and units become object names and label values in the cluster.
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** The limit protects the memory of sync, which holds a few renders. A fleet of 1,000 clusters has about 100 objects for each of them. */
const MAX_OBJECTS = 100_000;
const MAX_VALUES = 5_000_000;
/** API servers refuse larger requests. */
const MAX_OBJECT_BYTES = 3 * 1024 * 1024;
const MAX_SHOWN_PATH = 10;
const INEXACT = 'is an integer that JavaScript cannot represent exactly: write it as a string, in quotes';
const MAX_PROBLEMS = 10_000;
/** Each warning is logged, and a program can write very many. */
const MAX_WARNINGS = 100;
const MAX_TEXT = 1000;
const NEWLINE = 0x0a;

interface ParsedOutput {
  readonly units: Map<string, Map<string, RenderedObject[]>>;
  readonly problems: { readonly code: RenderErrorCode; readonly problem: RenderProblem }[];
  readonly warnings: string[];
  objects: number;
  /** The number of JSON values in all objects. */
  values: number;
  end?: number;
}

export function readResult(bytes: Buffer): RenderResult {
  const parsed: ParsedOutput = { units: new Map(), problems: [], warnings: [], objects: 0, values: 0 };
  for (const line of linesOf(bytes)) {
    if (line.length > MAX_OBJECT_BYTES) parsed.problems.push(tooLarge(line));
    else if (line.length > 0) readLine(line.toString('utf8'), parsed);
    const reason = tooManyReason(parsed);
    if (reason !== undefined) throw new RenderError('TooMuchOutput', [{ message: reason }], TOO_MUCH_HINT);
  }
  if (parsed.end !== parsed.objects && parsed.problems.length === 0) {
    throw new RenderError(
      'Failed',
      [{ message: 'the program exited before the render was complete' }],
      'run `npm run synth` to reproduce it',
    );
  }
  const [first] = parsed.problems;
  if (first) throw renderError(first.code, parsed);
  return { targets: targetsOf(parsed.units), warnings: parsed.warnings };
}

function* linesOf(bytes: Buffer): Generator<Buffer> {
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** Describes a line that is too large by its start only: the whole line is not parsed. */
function tooLarge(line: Buffer): ParsedOutput['problems'][number] {
  const start = line.toString('utf8', 0, 100);
  const message = `expected at most ${MAX_OBJECT_BYTES} bytes of an object, got ${line.length}: ${start}…`;
  return { code: 'BadObject', problem: { message: printable(message) } };
}

function tooManyReason({ objects, values, problems }: ParsedOutput): string | undefined {
  if (objects > MAX_OBJECTS) return `the commit renders more than ${MAX_OBJECTS} objects`;
  if (values > MAX_VALUES) return `the objects of the commit have more than ${MAX_VALUES} fields and items`;
  return problems.length > MAX_PROBLEMS ? `the render reports more than ${MAX_PROBLEMS} problems` : undefined;
}

function renderError(code: RenderErrorCode, { problems }: ParsedOutput): RenderError {
  const all = problems.map(({ problem }) => problem);
  return new RenderError(code, all, hintFor(code));
}

function readLine(line: string, parsed: ParsedOutput): void {
  const value = parseLine(line);
  if (parsed.end !== undefined || !value) {
    parsed.problems.push({
      code: 'Failed',
      problem: { message: 'the program wrote to the file descriptor of the result' },
    });
  } else if (typeof value['end'] === 'number') parsed.end = value['end'];
  else if (typeof value['warning'] === 'string') addWarning(value['warning'], parsed);
  else if ('problem' in value) parsed.problems.push(problemOf(value));
  else readObject(value, parsed);
}

function addWarning(text: string, { warnings }: ParsedOutput): void {
  if (warnings.length > MAX_WARNINGS) return;
  const isLast = warnings.length === MAX_WARNINGS;
  warnings.push(isLast ? `more than ${MAX_WARNINGS} warnings: the others are left out` : printable(text));
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readObject(line: Record<string, unknown>, parsed: ParsedOutput): void {
  parsed.objects += 1;
  const { object, target, unit } = line;
  const source = { ...textAt(line, 'file'), ...textAt(line, 'construct') };
  const reason = invalidObjectReason(object, parsed) ?? invalidNameReason(target, unit);
  if (reason !== undefined) {
    parsed.problems.push({ code: 'BadObject', problem: { message: reason, ...source } });
    return;
  }
  const units = parsed.units.get(target as string) ?? new Map<string, RenderedObject[]>();
  const objects = units.get(unit as string) ?? [];
  objects.push({ object: object as KubeObject, source });
  parsed.units.set(target as string, units.set(unit as string, objects));
}

function invalidObjectReason(object: unknown, counts: { values: number }): string | undefined {
  if (!isRecord(object)) return 'expected an object';
  const { apiVersion, kind, metadata } = object;
  if (!isText(apiVersion)) return 'apiVersion is missing or not a string';
  if (!isText(kind)) return 'kind is missing or not a string';
  if (!isRecord(metadata) || !isText(metadata['name'])) {
    return `metadata.name of this ${printable(kind)} is missing: objects from git need a fixed name`;
  }
  const shape = shapeReason(object);
  if (shape !== undefined) return `${printable(kind)} ${printable(metadata['name'])}: ${shape}`;
  const invalid = findInexactNumber(object, counts);
  return invalid && `${invalid.slice(0, MAX_SHOWN_PATH).join('.')} ${INEXACT}`;
}

/**
 * Returns the path of the first integer that is not exact, and counts the values. JavaScript represents integers up to 2^53
 * exactly; a larger one may have been rounded already.
 */
function findInexactNumber(value: unknown, counts: { values: number }): readonly string[] | undefined {
  counts.values += 1;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const key of Object.keys(value)) {
    const found = findInexactNumber((value as Record<string, unknown>)[key], counts);
    if (found) return [key, ...found];
  }
  return undefined;
}

function invalidNameReason(target: unknown, unit: unknown): string | undefined {
  if (typeof target !== 'string' || !NAME.test(target)) {
    return `invalid cluster name ${JSON.stringify(printable(String(target)))}: expected lower-case letters, digits and -, at most 63 characters`;
  }
  if (typeof unit !== 'string' || !NAME.test(unit)) {
    return `invalid unit name ${JSON.stringify(printable(String(unit)))}: expected lower-case letters, digits and -, at most 63 characters`;
  }
  return undefined;
}

function problemOf({ code, problem }: Record<string, unknown>): ParsedOutput['problems'][number] {
  const knownCode = RENDER_ERROR_CODES.find((name) => name === code) ?? 'Failed';
  const fields = isRecord(problem) ? problem : {};
  const { message, line } = fields;
  return {
    code: knownCode,
    problem: {
      message: printable(typeof message === 'string' ? message : 'the render failed without a message'),
      ...textAt(fields, 'file'),
      ...textAt(fields, 'construct'),
      ...(typeof line === 'number' ? { line } : {}),
    },
  };
}

function textAt<K extends 'file' | 'construct'>(
  record: Record<string, unknown>,
  key: K,
): { [key in K]?: string } {
  const value = record[key];
  return typeof value === 'string' ? ({ [key]: printable(value) } as { [key in K]: string }) : {};
}

/** Makes a text printable in terminals and conditions. */
function printable(text: string): string {
  return printableText(text.slice(0, MAX_TEXT)).slice(0, MAX_TEXT);
}

function targetsOf(units: ParsedOutput['units']): RenderedTarget[] {
  return [...units]
    .toSorted(([a], [b]) => byCode(a, b))
    .map(([target, of]) => {
      const sorted = [...of]
        .toSorted(([a], [b]) => byCode(a, b))
        .map(([unit, objects]) => unitOf(unit, objects));
      return { target, units: sorted, digest: digestOf(sorted.map(({ unit, digest }) => [unit, digest])) };
    });
}

/** Sorts the objects of a unit by identity: the order in which a program declares objects has no meaning. */
function unitOf(unit: string, objects: readonly RenderedObject[]): RenderedUnit {
  const sorted = withSharedDependencies(objects).toSorted((a, b) => byCode(keyOf(a.object), keyOf(b.object)));
  return { unit, objects: sorted, digest: digestOf(sorted.map(({ object }) => object)) };
}

function keyOf({ apiVersion, kind, metadata }: KubeObject): string {
  return [apiVersion, kind, metadata.namespace ?? '', metadata.name].join('\n');
}

const TOO_MUCH_HINT = 'split the fleet over several Pipelines';

const HINTS: Readonly<Partial<Record<RenderErrorCode, string>>> = {
  Denied:
    'use only files of the repository: a render has no network, other files, environment or other programs',
  NoEntry:
    'add a cdk8s.yaml with `app: node fleet/main.ts`, or YAML in hub/ and clusters/NAME/ (see `kubenode init`)',
  MissingModule:
    'import packages of the toolchain of the running kubenode only: npm install does not add to it',
};

function hintFor(code: RenderErrorCode): string {
  return HINTS[code] ?? 'fix it; `npm run synth` and `kubenode render` show the same error';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
