/**
 * Helpers over zod in which kinds are declared. Each one requires a description and a bound, so that no field lacks
 * them. The description comes first; `kubectl explain` and editors show it.
 */
import { z } from 'zod';
import { DIGEST, MOMENT, type Pattern, REASON } from './patterns.ts';

/** TypeScript types are generated, so the declarations need none of their own. */
export type Schema = z.ZodType;
export type Fields = Readonly<Record<string, Schema>>;

export type Bounds = readonly [min: number, max: number];

/** A CEL rule of the CRD, with the message that the API server returns when it evaluates to false. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  /** Field that the message is about, relative to the schema of the rule: `.start`. */
  readonly fieldPath?: string;
  readonly reason?:
    | 'FieldValueInvalid'
    | 'FieldValueForbidden'
    | 'FieldValueRequired'
    | 'FieldValueDuplicate';
  /** Makes `oldSelf` an optional value, so that the rule also runs at creation. */
  readonly optionalOldSelf?: boolean;
}

/** Name and description of the TypeScript interface of an object. Both are left out of the CRD. */
export const TYPE_NAME = 'x-kubenode-type';
export const TYPE_DOC = 'x-kubenode-doc';

export const NAME_MAX = 63;
const TEXT_MAX = 256;
const INT32_MAX = 2_147_483_647;

export interface TextOptions {
  readonly max?: number;
  readonly min?: number;
  readonly pattern?: Pattern;
}

export function text(sentence: string, { max = TEXT_MAX, min, pattern }: TextOptions = {}): Schema {
  const marks = { description: sentence, ...(pattern && { pattern: pattern.regex }) };
  return (min === undefined ? z.string().max(max) : z.string().min(min).max(max)).meta(marks);
}

/** A required name: the empty string is refused. */
export function name(sentence: string, max = NAME_MAX): Schema {
  return text(sentence, { max, min: 1 });
}

/** A CamelCase reason, which programs compare. */
export function reason(sentence = 'CamelCase reason, for programs.'): Schema {
  return text(sentence, { max: 64, pattern: REASON });
}

export function message(sentence = 'Explanation for people, with a hint.', max = TEXT_MAX): Schema {
  return text(sentence, { max });
}

export function digest(sentence: string): Schema {
  return text(sentence, { max: 71, pattern: DIGEST });
}

/**
 * A time in RFC 3339. It has a pattern and no `format`: in a field with a `format`, the API server accepts a list as a
 * string (kube-openapi, validate/type.go). CEL rules convert with `timestamp(self.x)`.
 */
export function time(sentence: string): Schema {
  return text(sentence, { max: 40, pattern: MOMENT });
}

export function int(sentence: string, [min, max]: Bounds = [0, INT32_MAX]): Schema {
  return z.int().min(min).max(max).meta({ description: sentence });
}

/** Bytes and sequence numbers may exceed 2^31, but not 2^53, above which JSON.parse loses digits. */
export function bigInt(sentence: string): Schema {
  return int(sentence, [0, Number.MAX_SAFE_INTEGER]);
}

export function percent(sentence: string, bounds: Bounds = [0, 100]): Schema {
  return int(sentence, bounds);
}

export function decimal(sentence: string): Schema {
  return z.number().meta({ description: sentence });
}

export function flag(sentence: string): Schema {
  return z.boolean().meta({ description: sentence });
}

export function choice(sentence: string, values: readonly [string, ...string[]]): Schema {
  return z.enum(values).meta({ description: sentence });
}

/** An object with known fields, and the name of its TypeScript interface. Unknown fields are refused. */
export function named(type: string, sentence: string, fields: Fields): Schema {
  return z.object(fields).meta({ description: sentence, [TYPE_NAME]: type, [TYPE_DOC]: sentence });
}

/** Free-form JSON that another part validates: the provider, a step, the rule compiler. */
export function foreign(sentence: string): Schema {
  const marks = { description: sentence, 'x-kubernetes-preserve-unknown-fields': true };
  return z.record(z.string(), z.unknown()).meta(marks);
}

/** Any JSON value. It has no type, so CEL cannot read it. */
export function anything(sentence: string): Schema {
  return z.unknown().meta({ description: sentence, 'x-kubernetes-preserve-unknown-fields': true });
}

/** An atomic list: replaced as a whole. */
export function list(sentence: string, item: Schema, [min, max]: Bounds): Schema {
  const bounded = min > 0 ? z.array(item).min(min).max(max) : z.array(item).max(max);
  return bounded.meta({ description: sentence, 'x-kubernetes-list-type': 'atomic' });
}

/** A list whose entries are identified by keys, so that several managers can own one entry each. */
export function listMap(sentence: string, keys: readonly string[], item: Schema, bounds: Bounds): Schema {
  const marks = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys] };
  return list(sentence, item, bounds).meta(marks);
}

/** A map with free keys. A schema cannot limit the length of keys. */
export function map(sentence: string, value: Schema, max: number): Schema {
  return z.record(z.string(), value).meta({ description: sentence, maxProperties: max });
}

/** An atomic object or map: one manager owns all of it. */
export function atomic(schema: Schema): Schema {
  return schema.meta({ ...schema.meta(), 'x-kubernetes-map-type': 'atomic' });
}

/** Adds CEL rules to those of the schema. */
export function rules(schema: Schema, ...added: readonly CelRule[]): Schema {
  const before = (schema.meta()?.['x-kubernetes-validations'] ?? []) as readonly CelRule[];
  return schema.meta({ 'x-kubernetes-validations': [...before, ...added] });
}

/** Immutable after creation. For required fields and fields with a default, which cannot be added or removed. */
export function immutable(subject: string, schema: Schema): Schema {
  return rules(schema, {
    rule: 'self == oldSelf',
    message: `${subject} cannot be changed after creation; delete the object and create it again`,
    reason: 'FieldValueForbidden',
  });
}
