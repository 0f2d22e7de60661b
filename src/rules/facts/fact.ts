/** What a kind of fact is: its parameters, its fields and their types, who reports it, and how long that is believed. */
import type { Pattern } from '../../api/patterns.ts';
import type { MaxAge, Reading, Scalar } from '../compiled-rule.ts';
import { guess, kindOf, shown } from '../problems.ts';

export type Field =
  | { readonly type: 'number'; readonly min: number; readonly max: number; readonly whole: boolean }
  | { readonly type: 'text'; readonly values?: readonly string[] }
  | { readonly type: 'boolean' };

export type Fields = ReadonlyMap<string, Field>;

export type Param =
  | { readonly type: 'text'; readonly pattern: Pattern; readonly max: number }
  | { readonly type: 'choice'; readonly values: readonly string[] }
  | { readonly type: 'seconds'; readonly max: number };

export type Params = Readonly<Record<string, string | number>>;

export interface FactKind {
  readonly name: string;
  readonly source: string;
  readonly maxAge: MaxAge;
  /** In the order in which people name them; the first is the key of `given`. */
  readonly params: ReadonlyMap<string, Param>;
  readonly fields: Fields;
  /** Of a fact that is counted: what one observation says, and how a reading is made of many. */
  readonly observed?: Observed;
}

export interface Observed {
  readonly entry: Fields;
  /** Entries of the right types; `reachSeconds` is how far back they are complete. */
  readonly read: (entries: readonly Entry[], params: Params, reachSeconds: number) => Reading;
}

export type Entry = Readonly<Record<string, Scalar>>;

const TEXT_MAX = 256;

export const text: Field = { type: 'text' };
export const truth: Field = { type: 'boolean' };
export const percent: Field = { type: 'number', min: 0, max: 100, whole: false };
export const seconds: Field = { type: 'number', min: 0, max: Infinity, whole: false };
export const rate: Field = { type: 'number', min: 0, max: Infinity, whole: false };
export const count: Field = { type: 'number', min: 0, max: Infinity, whole: true };

export function oneOf(values: readonly string[]): Field {
  return { type: 'text', values };
}

export function fieldsOf(fields: Readonly<Record<string, Field>>): Fields {
  return new Map(Object.entries(fields));
}

export function paramsOf(params: Readonly<Record<string, Param>>): ReadonlyMap<string, Param> {
  return new Map(Object.entries(params));
}

/** Why a value is none of this field: the same answer for a rule, for a test, and for what a node reports. */
export function objectionTo(field: Field, value: unknown): string | undefined {
  if (field.type === 'boolean') {
    return typeof value === 'boolean'
      ? undefined
      : `must be true or false without quotes, not ${shown(value)}`;
  }
  return field.type === 'number' ? objectionToNumber(field, value) : objectionToText(field, value);
}

function objectionToNumber(
  { min, max, whole }: Extract<Field, { type: 'number' }>,
  value: unknown,
): string | undefined {
  if (typeof value === 'string') return `must be a number: write it without quotes, not ${shown(value)}`;
  if (typeof value !== 'number') return `must be a number, not ${kindOf(value)}`;
  if (!Number.isFinite(value)) return `must be a finite number, not ${value}`;
  if (value < min) return `is never below ${min}`;
  if (value > max) return `is never above ${max}`;
  return whole && !Number.isInteger(value) ? `is always a whole number, so never ${value}` : undefined;
}

function objectionToText({ values }: Extract<Field, { type: 'text' }>, value: unknown): string | undefined {
  if (typeof value === 'boolean') {
    return `must be text: write "${value ? 'True' : 'False'}" in quotes, as ${value} without quotes is no text`;
  }
  if (typeof value !== 'string') return `must be text in quotes, not ${kindOf(value)}`;
  if (value === '') return 'must not be empty text: what is not known is left out';
  if (value.length > TEXT_MAX) return `must have at most ${TEXT_MAX} characters`;
  if (!values || values.includes(value)) return undefined;
  return `must be one of ${values.join(', ')}, not ${shown(value)}${guess(value, values)}`;
}

/** Of what somebody reports, the fields that we know, with values that fit: all else is unknown. */
export function readingOf(fields: Fields, reported: Readonly<Record<string, unknown>>): Reading {
  const known = [...fields].flatMap(([name, field]) => {
    const value = Object.hasOwn(reported, name) ? reported[name] : undefined;
    return objectionTo(field, value) === undefined ? [[name, value as Scalar] as const] : [];
  });
  return Object.freeze(Object.fromEntries(known));
}
