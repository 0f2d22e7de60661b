/** Reads what a sandboxed process wrote. It is foreign data: every word is checked, nothing is taken on trust. */

import { byCode, digestOf } from '../../kube/objects/digest.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { RenderedObject, RenderedTarget, RenderedUnit } from '../rendered.ts';
import { RENDER_ERROR_CODES, RenderError, type RenderErrorCode, type RenderProblem } from './errors.ts';

export interface RenderResult {
  readonly targets: readonly RenderedTarget[];
  readonly warnings: readonly string[];
}

// Target and unit become names and label values in the cluster.
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
// Parsing thousands of lines in one go would hold up Leases and health checks.
const LINES_A_TURN = 500;

interface Gathered {
  readonly units: Map<string, Map<string, RenderedObject[]>>;
  readonly problems: { readonly code: RenderErrorCode; readonly problem: RenderProblem }[];
  readonly warnings: string[];
  objects: number;
  end?: number;
}

export async function readResult(bytes: Buffer): Promise<RenderResult> {
  const found: Gathered = { units: new Map(), problems: [], warnings: [], objects: 0 };
  const lines = bytes.toString('utf8').split('\n');
  for (const [index, line] of lines.entries()) {
    if (line !== '') readLine(line, found);
    if (index % LINES_A_TURN === LINES_A_TURN - 1) await new Promise(setImmediate);
  }
  if (found.end !== found.objects && found.problems.length === 0) {
    throw new RenderError(
      'Failed',
      [{ message: 'the program ended before it had rendered' }],
      'run it yourself: npm run synth',
    );
  }
  const [first] = found.problems;
  if (first) throw failure(first.code, found);
  return { targets: targetsOf(found.units), warnings: found.warnings };
}

function failure(code: RenderErrorCode, { problems }: Gathered): RenderError {
  const all = problems.map(({ problem }) => problem);
  return new RenderError(code, all, hintFor(code));
}

function readLine(line: string, found: Gathered): void {
  const value = parse(line);
  if (found.end !== undefined || !value) {
    found.problems.push({
      code: 'Failed',
      problem: { message: 'the program wrote between the lines of its own result' },
    });
  } else if (typeof value['end'] === 'number') found.end = value['end'];
  else if (typeof value['warning'] === 'string') found.warnings.push(clean(value['warning']));
  else if ('problem' in value) found.problems.push(problemOf(value));
  else readObject(value, found);
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readObject(line: Record<string, unknown>, found: Gathered): void {
  found.objects += 1;
  const { object, target, unit } = line;
  const source = { ...textAt(line, 'file'), ...textAt(line, 'construct') };
  const objection = invalidObjectReason(object) ?? invalidNameReason(target, unit);
  if (objection !== undefined) {
    found.problems.push({ code: 'BadObject', problem: { message: objection, ...source } });
    return;
  }
  const units = found.units.get(target as string) ?? new Map<string, RenderedObject[]>();
  const objects = units.get(unit as string) ?? [];
  objects.push({ object: object as KubeObject, source });
  found.units.set(target as string, units.set(unit as string, objects));
}

function invalidObjectReason(object: unknown): string | undefined {
  if (!isRecord(object)) return 'this is no object';
  const { apiVersion, kind, metadata } = object;
  if (!isText(apiVersion)) return 'apiVersion is missing, or not a string';
  if (!isText(kind)) return 'kind is missing, or not a string';
  if (!isRecord(metadata) || !isText(metadata['name'])) {
    return `metadata.name of this ${clean(kind)} is missing: an object from git needs a name of its own`;
  }
  const inexact = inexactNumber(object, '');
  return inexact === undefined
    ? undefined
    : `${inexact} is a number too large to be exact: write it as a string, in quotes`;
}

/** JavaScript holds integers up to 2^53. A larger one was rounded before anybody could see it. */
function inexactNumber(value: unknown, path: string): string | undefined {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return path;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = inexactNumber(inner, path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function invalidNameReason(target: unknown, unit: unknown): string | undefined {
  if (typeof target !== 'string' || !NAME.test(target)) {
    return `${clean(String(target)) || 'a chart without a name'} cannot be the name of a cluster: lower-case letters, digits and -, at most 63`;
  }
  if (typeof unit !== 'string' || !NAME.test(unit)) {
    return `${clean(String(unit))} cannot be the name of a unit: lower-case letters, digits and -, at most 63`;
  }
  return undefined;
}

function problemOf({ code, problem }: Record<string, unknown>): Gathered['problems'][number] {
  const known = RENDER_ERROR_CODES.find((name) => name === code) ?? 'Failed';
  const facts = isRecord(problem) ? problem : {};
  const { message, line } = facts;
  return {
    code: known,
    problem: {
      message: clean(typeof message === 'string' ? message : 'it failed without a word'),
      ...textAt(facts, 'file'),
      ...textAt(facts, 'construct'),
      ...(typeof line === 'number' ? { line } : {}),
    },
  };
}

function textAt<K extends 'file' | 'construct'>(
  record: Record<string, unknown>,
  key: K,
): { [key in K]?: string } {
  const value = record[key];
  return typeof value === 'string' ? ({ [key]: clean(value) } as { [key in K]: string }) : {};
}

/** For a terminal and a condition: no control characters, and not a book. */
function clean(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what must go
  return text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, ' ').slice(0, 1000);
}

function targetsOf(units: Gathered['units']): RenderedTarget[] {
  return [...units]
    .toSorted(([a], [b]) => byCode(a, b))
    .map(([target, of]) => {
      const sorted = [...of]
        .toSorted(([a], [b]) => byCode(a, b))
        .map(([unit, objects]) => unitOf(unit, objects));
      return { target, units: sorted, digest: digestOf(sorted.map(({ unit, digest }) => [unit, digest])) };
    });
}

/** Sorted by what the objects are: the order in which a program makes them means nothing. */
function unitOf(unit: string, objects: readonly RenderedObject[]): RenderedUnit {
  const sorted = objects.toSorted((a, b) => byCode(keyOf(a.object), keyOf(b.object)));
  return { unit, objects: sorted, digest: digestOf(sorted.map(({ object }) => object)) };
}

function keyOf({ apiVersion, kind, metadata }: KubeObject): string {
  return [apiVersion, kind, metadata.namespace ?? '', metadata.name].join('\n');
}

const HINTS: Readonly<Partial<Record<RenderErrorCode, string>>> = {
  Denied:
    'a render may read its repository and nothing else: no network, files, environment or other programs',
  NoEntry:
    'write a cdk8s.yaml with `app: node fleet/main.ts`, or YAML under hub/ and clusters/NAME/ (kubenode init shows both)',
  MissingModule: 'the toolchain is that of the running kubenode: npm install adds nothing to it',
};

function hintFor(code: RenderErrorCode): string {
  return HINTS[code] ?? 'correct it and commit; `npm run synth` or `kubenode render` shows the same';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
