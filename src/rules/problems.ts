/** Collects the problems of a rule, so that one run of the compiler reports all of them. */
import { nearest } from '../api/validation/nearest.ts';
import type { Problem } from '../api/validation/validate.ts';
import { isRecord, type JsonRecord } from '../kube/objects/json.ts';

/** Returns undefined, so that callers can report and return in one statement. */
export type ReportProblem = (path: string, message: string) => undefined;

/** Keeps the first problem of each path. */
export function createProblemCollector(): {
  readonly report: ReportProblem;
  readonly problems: () => readonly Problem[];
} {
  const found = new Map<string, Problem>();
  return {
    report: (path, message) => {
      if (!found.has(path)) found.set(path, { path, message });
      return undefined;
    },
    problems: () => [...found.values()],
  };
}

/** Merges problems of the compiler and the schema. For the same path the compiler explains more than the schema. */
export function mergeProblems(
  ruleProblems: readonly Problem[],
  schemaProblems: readonly Problem[],
): readonly Problem[] {
  const paths = new Set(ruleProblems.map(({ path }) => path));
  return [...ruleProblems, ...schemaProblems.filter(({ path }) => !paths.has(path))];
}

/** Plain objects only. */
export function readObject(report: ReportProblem, path: string, value: unknown): JsonRecord | undefined {
  return isRecord(value) ? value : report(path, typeProblem('an object', value));
}

export function readArray(
  report: ReportProblem,
  path: string,
  value: unknown,
): readonly unknown[] | undefined {
  return Array.isArray(value)
    ? Array.from(value as readonly unknown[])
    : report(path, typeProblem('a list', value));
}

/** `; did you mean usedPercent?`, or empty. */
export function suggestName(word: string, known: readonly string[]): string {
  const found = nearest(word, known);
  return found === undefined ? '' : `; did you mean ${found}?`;
}

/** `must be an object, got a list`, or that a missing value is required. */
export function typeProblem(expected: string, value: unknown): string {
  return value === undefined
    ? `is required: must be ${expected}`
    : `must be ${expected}, got ${describeType(value)}`;
}

export function describeType(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return (
    { string: 'a string', number: 'a number', boolean: 'a boolean' }[typeof value as string] ?? typeof value
  );
}

/** Formats a value for a message, shortened. */
export function formatValue(value: unknown): string {
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
  const text = isScalar ? JSON.stringify(value) : describeType(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** The path of a child: `params.name` or `params["a/b"]`. */
export function childPath(path: string, key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
