/** What the generated validators call. They decide as the API server does, so that both say the same. */
import { RE2JS } from 're2js';

/** An error of ajv, with the parameters that our keywords give. */
export interface Failure {
  readonly keyword: string;
  readonly instancePath: string;
  /** Only in branches of a choice. */
  readonly schemaPath?: string;
  /** Set where it is the key of a map that fails. */
  readonly propertyName?: string;
  readonly params: {
    readonly missingProperty?: string;
    readonly field?: string;
    readonly known?: readonly string[];
    readonly allowedValues?: readonly unknown[];
    readonly type?: string | readonly string[];
    readonly limit?: number;
    readonly pattern?: string;
    readonly index?: number;
  };
}

export interface Validate {
  (object: unknown): boolean;
  readonly errors?: readonly Failure[] | null;
}

export interface Runtime {
  readonly re2: typeof re2;
  readonly lengthOf: typeof lengthOf;
  readonly duplicateOf: typeof duplicateOf;
}

export type Make = (runtime: Runtime) => Validate;

export interface Matcher {
  test(text: string): boolean;
  /** ajv tells patterns apart by this. */
  toString(): string;
}

/** Patterns are RE2 in the API server: no pattern of ours can ever hang, and both mean the same by it. */
export function re2(pattern: string): Matcher {
  const known = matchers.get(pattern);
  if (known) return known;
  const compiled = RE2JS.compile(pattern);
  const matcher: Matcher = {
    test: (text) => compiled.matcher(text).find(),
    toString: () => `re2:${pattern}`,
  };
  matchers.set(pattern, matcher);
  return matcher;
}

/** The same few patterns stand in all kinds. */
const matchers = new Map<string, Matcher>();

/** Lengths are in code points, as in Go. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

/** Index of the first entry whose keys an earlier one has too, or -1. */
export function duplicateOf(entries: readonly unknown[], keys: readonly string[]): number {
  const seen = new Set<string>();
  return entries.findIndex((entry) => {
    // What is no object has an error of its own.
    if (typeof entry !== 'object' || entry === null) return false;
    const key = JSON.stringify(keys.map((name) => (entry as Readonly<Record<string, unknown>>)[name]));
    return seen.size === seen.add(key).size;
  });
}

export const runtime: Runtime = { re2, lengthOf, duplicateOf };
