/** Parses the output of a sandboxed process. It is untrusted data, so every field is checked. */

import { byCode, digestOf } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { shapeReason } from '../../kube/objects/shape.ts';
import type { RenderedObject, RenderedTarget, RenderedUnit } from '../rendered.ts';
import { RENDER_ERROR_CODES, RenderError, type RenderErrorCode, type RenderProblem } from './errors.ts';

export interface RenderResult {
  readonly targets: readonly RenderedTarget[];
  readonly warnings: readonly string[];
}

// Targets and units become object names and label values in the cluster.
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
// Parsing thousands of lines without a pause would delay Leases and health checks.
const LINES_PER_TURN = 500;

interface ParsedOutput {
  readonly units: Map<string, Map<string, RenderedObject[]>>;
  readonly problems: { readonly code: RenderErrorCode; readonly problem: RenderProblem }[];
  readonly warnings: string[];
  objects: number;
  end?: number;
}

export async function readResult(bytes: Buffer): Promise<RenderResult> {
  const parsed: ParsedOutput = { units: new Map(), problems: [], warnings: [], objects: 0 };
  const lines = bytes.toString('utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    if (line !== '') readLine(line, parsed);
    if (index % LINES_PER_TURN === LINES_PER_TURN - 1) await new Promise(setImmediate);
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
  else if (typeof value['warning'] === 'string') parsed.warnings.push(sanitize(value['warning']));
  else if ('problem' in value) parsed.problems.push(problemOf(value));
  else readObject(value, parsed);
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
  const reason = invalidObjectReason(object) ?? invalidNameReason(target, unit);
  if (reason !== undefined) {
    parsed.problems.push({ code: 'BadObject', problem: { message: reason, ...source } });
    return;
  }
  const units = parsed.units.get(target as string) ?? new Map<string, RenderedObject[]>();
  const objects = units.get(unit as string) ?? [];
  objects.push({ object: object as KubeObject, source });
  parsed.units.set(target as string, units.set(unit as string, objects));
}

function invalidObjectReason(object: unknown): string | undefined {
  if (!isRecord(object)) return 'expected an object';
  const { apiVersion, kind, metadata } = object;
  if (!isText(apiVersion)) return 'apiVersion is missing or not a string';
  if (!isText(kind)) return 'kind is missing or not a string';
  if (!isRecord(metadata) || !isText(metadata['name'])) {
    return `metadata.name of this ${sanitize(kind)} is missing: objects from git need a fixed name`;
  }
  const shape = shapeReason(object);
  if (shape !== undefined) return `${sanitize(kind)} ${sanitize(metadata['name'])}: ${shape}`;
  const path = findInexactNumber(object, '');
  return path === undefined
    ? undefined
    : `${path} is an integer that JavaScript cannot represent exactly: write it as a string, in quotes`;
}

/** JavaScript represents integers up to 2^53 exactly. A larger one may have been rounded already. */
function findInexactNumber(value: unknown, path: string): string | undefined {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = findInexactNumber(inner, path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function invalidNameReason(target: unknown, unit: unknown): string | undefined {
  if (typeof target !== 'string' || !NAME.test(target)) {
    return `invalid cluster name ${JSON.stringify(sanitize(String(target)))}: expected lower-case letters, digits and -, at most 63 characters`;
  }
  if (typeof unit !== 'string' || !NAME.test(unit)) {
    return `invalid unit name ${JSON.stringify(sanitize(String(unit)))}: expected lower-case letters, digits and -, at most 63 characters`;
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
      message: sanitize(typeof message === 'string' ? message : 'the render failed without a message'),
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
  return typeof value === 'string' ? ({ [key]: sanitize(value) } as { [key in K]: string }) : {};
}

/** For terminals and conditions: no control characters, and at most 1000 characters. */
function sanitize(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are removed
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ').slice(0, 1000);
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

/** Sorted by identity: the order in which a program declares objects has no meaning. */
function unitOf(unit: string, objects: readonly RenderedObject[]): RenderedUnit {
  const sorted = objects.toSorted((a, b) => byCode(keyOf(a.object), keyOf(b.object)));
  return { unit, objects: sorted, digest: digestOf(sorted.map(({ object }) => object)) };
}

function keyOf({ apiVersion, kind, metadata }: KubeObject): string {
  return [apiVersion, kind, metadata.namespace ?? '', metadata.name].join('\n');
}

const HINTS: Readonly<Partial<Record<RenderErrorCode, string>>> = {
  Denied:
    'use only files of the repository: a render has no network, other files, environment or other programs',
  NoEntry:
    'add a cdk8s.yaml with `app: node fleet/main.ts`, or YAML in hub/ and clusters/NAME/ (see `kubenode init`)',
  MissingModule:
    'import packages of the toolchain of the running kubenode only: npm install does not add to it',
};

function hintFor(code: RenderErrorCode): string {
  return HINTS[code] ?? 'fix it and commit; `npm run synth` and `kubenode render` show the same error';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
