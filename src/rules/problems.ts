/** How the parts of the compiler say what is wrong: all problems are gathered, so that one pass shows them all. */
import { nearest } from '../api/validation/nearest.ts';
import { isRecord, type JsonRecord } from '../kube/objects/json.ts';

export interface Problem {
  /** As `kubectl` writes it: `spec.rule.conditions.all[0].value`. */
  readonly path: string;
  /** What is wrong, and the way out. */
  readonly message: string;
}

/** Gives undefined, so that a part can say what is wrong and end in one statement. */
export type Report = (path: string, message: string) => undefined;

/** Of several objections to one place the first says enough. */
export function gather(): { readonly report: Report; readonly problems: () => readonly Problem[] } {
  const found = new Map<string, Problem>();
  return {
    report: (path, message) => {
      if (!found.has(path)) found.set(path, { path, message });
      return undefined;
    },
    problems: () => [...found.values()],
  };
}

/** The compiler explains what a schema only forbids: where both object to one place, its word is enough. */
export function besideSchema(byRule: readonly Problem[], bySchema: readonly Problem[]): readonly Problem[] {
  const said = new Set(byRule.map(({ path }) => path));
  return [...byRule, ...bySchema.filter(({ path }) => !said.has(path))];
}

/** Own, plain fields only: what a prototype brings along is none. */
export function recordAt(report: Report, path: string, value: unknown): JsonRecord | undefined {
  return isRecord(value) ? value : report(path, `must be an object, not ${kindOf(value)}`);
}

export function listIn(report: Report, path: string, value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value)
    ? Array.from(value as readonly unknown[])
    : report(path, `must be a list, not ${kindOf(value)}`);
}

/** ` (did you mean usedPercent?)` or nothing. */
export function guess(word: string, known: readonly string[]): string {
  const found = nearest(word, known);
  return found === undefined ? '' : `; did you mean ${found}?`;
}

export function kindOf(value: unknown): string {
  if (value === undefined) return 'left out';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return (
    { string: 'text', number: 'a number', boolean: 'true or false' }[typeof value as string] ?? typeof value
  );
}

/** What was written, short enough for a message. */
export function shown(value: unknown): string {
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value);
  const text = isScalar ? JSON.stringify(value) : kindOf(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** The path of a key that need not be a word: `params["a/b"]`. */
export function keyed(path: string, key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}
