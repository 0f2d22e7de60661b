/** Functions that the generated validators call, with the semantics of the API server. */
import { RE2JS } from 're2js';

/** An error of ajv, with the parameters of our custom keywords. */
export interface Failure {
  readonly keyword: string;
  readonly instancePath: string;
  /** Present in branches of `oneOf` only. */
  readonly schemaPath?: string;
  /** Present if the key of a map is invalid. */
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
  /** ajv identifies patterns by this. */
  toString(): string;
}

/** RE2, as in the API server: the same semantics, and no pattern can take exponential time. */
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

/** Compiled patterns. The kinds share a few. */
const matchers = new Map<string, Matcher>();

/** Lengths are in code points, as in Go. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

/** Index of the first entry whose keys equal those of an earlier one, or -1. */
export function duplicateOf(entries: readonly unknown[], keys: readonly string[]): number {
  const keysSoFar = new Set<string>();
  return entries.findIndex((entry) => {
    // An entry that is not an object is reported separately.
    if (typeof entry !== 'object' || entry === null) return false;
    const key = JSON.stringify(keys.map((name) => (entry as Readonly<Record<string, unknown>>)[name]));
    return keysSoFar.size === keysSoFar.add(key).size;
  });
}

export const runtime: Runtime = { re2, lengthOf, duplicateOf };
