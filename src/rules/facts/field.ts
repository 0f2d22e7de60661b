/** Describes the parameters and the fields of facts with their types, and checks their values. */
import type { Pattern } from '../../api/patterns.ts';
import { ownValue } from '../../kube/objects/json.ts';
import type { FactParamValue, Reading, ScalarValue } from '../compiled-rule.ts';
import { formatValue, suggestName, typeProblem } from '../problems.ts';

export type FactField =
  | {
      readonly type: 'number';
      readonly min: number;
      readonly max: number;
      readonly whole: boolean;
      /** How the value changes with the time alone. Absent: it does not. */
      readonly time?: 'Grows' | 'GrowsUnlessZero' | 'RunsDown';
    }
  | { readonly type: 'text'; readonly values?: readonly string[] }
  | { readonly type: 'boolean' };

export type FactFields = ReadonlyMap<string, FactField>;

/** Fields whose names and types TypeScript knows: the helpers that write rules are typed by them. */
export interface TypedFields<F> extends FactFields {
  /** This field is never set at run time: it only carries the type. */
  readonly declared?: F;
}

export type FactParam =
  | { readonly type: 'text'; readonly pattern: Pattern; readonly max: number }
  | { readonly type: 'choice'; readonly values: readonly string[] }
  | { readonly type: 'seconds'; readonly max: number }
  /** A list of numbers of which each names one kind of error. */
  | { readonly type: 'codes'; readonly max: number };

export type FactParams = Readonly<Record<string, FactParamValue>>;
/** One of the occurrences that a fact counts. */
export type Observation = Readonly<Record<string, ScalarValue>>;

const TEXT_MAX = 256;

export const TEXT_FIELD = { type: 'text' } as const satisfies FactField;
export const BOOLEAN_FIELD = { type: 'boolean' } as const satisfies FactField;
export const PERCENT_FIELD = { type: 'number', min: 0, max: 100, whole: false } as const satisfies FactField;
/** The share of a whole: 1 is all of it. */
export const RATIO_FIELD = { type: 'number', min: 0, max: 1, whole: false } as const satisfies FactField;
export const SECONDS_FIELD = {
  type: 'number',
  min: 0,
  max: Infinity,
  whole: false,
  time: 'Grows',
} as const satisfies FactField;
/** The duration of a state. The value stays zero while the state does not exist: nothing fails, or nothing rises. */
export const STATE_SECONDS_FIELD = {
  ...SECONDS_FIELD,
  time: 'GrowsUnlessZero',
} as const satisfies FactField;
/** A countdown to a moment: the value is positive while the moment is ahead, and negative when it is past. */
export const COUNTDOWN_FIELD = {
  ...SECONDS_FIELD,
  min: -Infinity,
  time: 'RunsDown',
} as const satisfies FactField;
/** Any number that was measured. */
export const NUMBER_FIELD = {
  type: 'number',
  min: -Infinity,
  max: Infinity,
  whole: false,
} as const satisfies FactField;
export const RATE_FIELD = {
  type: 'number',
  min: 0,
  max: Infinity,
  whole: false,
} as const satisfies FactField;
export const COUNT_FIELD = {
  type: 'number',
  min: 0,
  max: Infinity,
  whole: true,
} as const satisfies FactField;

export function createEnumField<const V extends string>(
  values: readonly V[],
): { readonly type: 'text'; readonly values: readonly V[] } {
  return { type: 'text', values };
}

export function createFields<const F extends Readonly<Record<string, FactField>>>(fields: F): TypedFields<F> {
  return new Map(Object.entries(fields));
}

export function createParams(params: Readonly<Record<string, FactParam>>): ReadonlyMap<string, FactParam> {
  return new Map(Object.entries(params));
}

/** Returns why a value is invalid for this field: in a rule, in a test, or in a report of a node. */
export function invalidValueReason(field: FactField, value: unknown): string | undefined {
  if (field.type === 'boolean') {
    return typeof value === 'boolean'
      ? undefined
      : `must be true or false without quotes, got ${formatValue(value)}`;
  }
  return field.type === 'number' ? invalidNumberReason(field, value) : invalidTextReason(field, value);
}

function invalidNumberReason(
  { min, max, whole }: Extract<FactField, { type: 'number' }>,
  value: unknown,
): string | undefined {
  if (typeof value === 'string') {
    return `must be a number: write it without quotes, got ${formatValue(value)}`;
  }
  if (typeof value !== 'number') return typeProblem('a number', value);
  if (!Number.isFinite(value)) return `must be a finite number, got ${value}`;
  if (value < min) return `must be at least ${min}`;
  if (value > max) return `must be at most ${max}`;
  return whole && !Number.isInteger(value) ? `must be an integer, got ${value}` : undefined;
}

function invalidTextReason(
  { values }: Extract<FactField, { type: 'text' }>,
  value: unknown,
): string | undefined {
  if (typeof value === 'boolean') {
    return `must be a string: write "${value ? 'True' : 'False'}" in quotes`;
  }
  if (typeof value !== 'string') return typeProblem('a string in quotes', value);
  if (value === '') return 'must not be empty: omit unknown values';
  if (value.length > TEXT_MAX) return `must have at most ${TEXT_MAX} characters`;
  if (!values || values.includes(value)) return undefined;
  return `must be one of ${values.join(', ')}, got ${formatValue(value)}${suggestName(value, values)}`;
}

/** The known fields of a report that have valid values; everything else is unknown. */
export function parseReading(fields: FactFields, reported: Readonly<Record<string, unknown>>): Reading {
  const known: Record<string, ScalarValue> = {};
  // A loop, as each evaluation of a rule reads a handful of facts.
  for (const [name, field] of fields) {
    const value = ownValue(reported, name);
    if (invalidValueReason(field, value) === undefined) known[name] = value as ScalarValue;
  }
  return Object.freeze(known);
}
