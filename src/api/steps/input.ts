/**
 * Validation of a step's input against its schema, as the generated validators do it for whole objects, but without an
 * npm package: the agent refuses a bad input by the same rules and in the same words as the compiler.
 */
import { isRecord } from '../../kube/objects/json.ts';
import { messageFor } from '../validation/messages.ts';
import { pathOf } from '../validation/path.ts';
import type { Failure } from '../validation/runtime.ts';
import type { Problem } from '../validation/validate.ts';
import type { StepFacts } from './step.ts';

/** The part of JSON Schema that step inputs use. */
export interface InputSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, InputSchema>>;
  readonly items?: InputSchema;
}

export interface StepEntry extends StepFacts {
  readonly input: InputSchema;
}

/** Paths are relative to the input. */
export function inputProblems(schema: InputSchema, input: unknown): readonly Problem[] {
  return failuresOf(schema, input).map((failure) => ({
    path: pathOf(failure),
    message: messageFor(failure),
  }));
}

type Found = Pick<Failure, 'keyword' | 'params'>;

export function failuresOf(schema: InputSchema, value: unknown, at = ''): readonly Failure[] {
  const { type = '' } = schema;
  if (!hasType(type, value)) return [{ keyword: 'type', instancePath: at, params: { type } }];
  const own = [
    ...scalarFailures(schema, value),
    ...listFailures(schema, value),
    ...fieldFailures(schema, value),
  ];
  return [...own.map((found) => ({ ...found, instancePath: at })), ...innerFailures(schema, value, at)];
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'object') return isRecord(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function scalarFailures(schema: InputSchema, value: unknown): readonly Found[] {
  if (schema.enum !== undefined) {
    const isOne = schema.enum.some((one) => one === value);
    return isOne ? [] : [{ keyword: 'enum', params: { allowedValues: schema.enum } }];
  }
  if (typeof value === 'number') return limitFailures(value, 'minimum', 'maximum', schema);
  if (typeof value !== 'string') return [];
  const { pattern } = schema;
  const limits = limitFailures(Array.from(value).length, 'minLength', 'maxLength', schema);
  const fits = pattern === undefined || new RegExp(pattern, 'u').test(value);
  return fits ? limits : [...limits, { keyword: 'pattern', params: { pattern } }];
}

function listFailures(schema: InputSchema, value: unknown): readonly Found[] {
  return Array.isArray(value) ? limitFailures(value.length, 'minItems', 'maxItems', schema) : [];
}

function limitFailures(
  size: number,
  lower: 'minimum' | 'minLength' | 'minItems',
  upper: 'maximum' | 'maxLength' | 'maxItems',
  { [lower]: min = -Infinity, [upper]: max = Infinity }: InputSchema,
): readonly Found[] {
  if (size < min) return [{ keyword: lower, params: { limit: min } }];
  return size > max ? [{ keyword: upper, params: { limit: max } }] : [];
}

function fieldFailures({ properties = {}, required = [] }: InputSchema, value: unknown): readonly Found[] {
  if (!isRecord(value)) return [];
  const known = Object.keys(properties);
  const unknown = Object.keys(value).filter((field) => !Object.hasOwn(properties, field));
  const missing = required.filter((field) => !Object.hasOwn(value, field));
  return [
    ...missing.map((missingProperty) => ({ keyword: 'required', params: { missingProperty } })),
    ...unknown.map((field) => ({ keyword: 'x-kubenode-fields', params: { field, known } })),
  ];
}

function innerFailures({ properties, items }: InputSchema, value: unknown, at: string): readonly Failure[] {
  if (Array.isArray(value) && items) {
    return value.flatMap((item, index) => failuresOf(items, item, `${at}/${index}`));
  }
  if (!isRecord(value)) return [];
  return Object.entries(properties ?? {}).flatMap(([field, schema]) =>
    Object.hasOwn(value, field) ? failuresOf(schema, value[field], `${at}/${field}`) : [],
  );
}

export function withDefaults(schema: InputSchema, value: unknown): unknown {
  const present = value === undefined ? schema.default : value;
  const { properties } = schema;
  if (!isRecord(present) || properties === undefined) return present;
  const filled = Object.entries(properties).map(([field, inner]) => [
    field,
    withDefaults(inner, present[field]),
  ]);
  return Object.fromEntries(filled.filter(([, inner]) => inner !== undefined));
}
