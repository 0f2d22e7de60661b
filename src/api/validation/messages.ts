/** Messages for the errors of ajv. They complete "spec.stages[0].name: …". */
import { PATTERNS, SHARE } from '../patterns.ts';
import { nearest } from './nearest.ts';
import type { Failure } from './runtime.ts';

/**
 * Drops the errors of `oneOf` branches that were not meant, as ajv reports all of them. If a comparison has some of `fact`,
 * `path`, `operator` and `value`, the missing ones are reported; otherwise the `oneOf` itself is.
 */
export function relevantFailures(failures: readonly Failure[]): readonly Failure[] {
  const begun = (place: string) => {
    const missing = failures.filter((failure) => failure.instancePath === place && ofLeaf(failure)).length;
    return missing > 0 && missing < LEAF.length;
  };
  return failures.filter((failure) => {
    const { keyword, instancePath, schemaPath = '' } = failure;
    if (keyword === 'propertyNames') return false;
    if (keyword === 'oneOf') return !begun(instancePath);
    return !schemaPath.includes('/oneOf/') || (ofLeaf(failure) && begun(instancePath));
  });
}

export function isUnknownField({ keyword }: Failure): boolean {
  return keyword === 'x-kubenode-fields';
}

const LEAF = ['fact', 'path', 'operator', 'value'];

function ofLeaf({ schemaPath = '', params }: Failure): boolean {
  return schemaPath.includes('/oneOf/') && LEAF.includes(params.missingProperty ?? '');
}

const MESSAGES: Readonly<Record<string, (failure: Failure) => string>> = {
  required: () => 'is required',
  'x-kubenode-fields': unknownField,
  enum: ({ params }) => `must be one of ${(params.allowedValues ?? []).map(String).join(', ')}`,
  type: ({ params }) => `must be ${typeName(params.type)}`,
  pattern: ({ params }) => `must be ${patternDescription(params.pattern)}`,
  minLength: ({ params }) =>
    params.limit === 1 ? 'must not be empty' : `needs at least ${params.limit} characters`,
  maxLength: ({ params }) => `may have at most ${params.limit} characters`,
  minItems: ({ params }) => `needs at least ${entries(params.limit)}`,
  maxItems: ({ params }) => `may have at most ${entries(params.limit)}`,
  maxProperties: ({ params }) => `may have at most ${entries(params.limit)}`,
  minimum: ({ params }) => `must be at least ${params.limit}`,
  maximum: ({ params }) => `must be at most ${params.limit}`,
  oneOf: () => 'give exactly one of all, any, and fact with path, operator and value',
  'x-kubernetes-list-map-keys': () => 'is a duplicate: an earlier entry has the same key',
};

export function messageFor(failure: Failure): string {
  const message = MESSAGES[failure.keyword];
  // A keyword without a message is a bug, but the object is still refused.
  return message ? message(failure) : `does not hold: ${failure.keyword}`;
}

function unknownField({ params: { field = '', known = [] } }: Failure): string {
  const guess = nearest(field, known);
  return guess === undefined ? 'unknown field' : `unknown field; did you mean ${guess}?`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of fields',
};

function typeName(type: string | readonly string[] = []): string {
  // Only an amount has two types.
  return typeof type === 'string' ? (TYPE_NAMES[type] ?? type) : SHARE.description;
}

function patternDescription(regex = ''): string {
  return PATTERNS.find((pattern) => pattern.regex === regex)?.description ?? `text that matches ${regex}`;
}

function entries(limit = 0): string {
  return limit === 1 ? '1 entry' : `${limit} entries`;
}
