/** Converts zod to a structural schema of a CRD. */
import { z } from 'zod';
import type { CelRule, Schema } from '../schema.ts';

export interface JsonSchema {
  readonly $schema?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
  readonly 'x-kubenode-type'?: string;
  readonly 'x-kubenode-doc'?: string;
}

/** The order in which the keys of a schema are written, for readers. */
const KEY_ORDER = [
  'description',
  'x-kubenode-type',
  'x-kubenode-doc',
  'type',
  'format',
  'enum',
  'default',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'properties',
  'items',
  'additionalProperties',
  'oneOf',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
] as const;

export function jsonSchemaOf(schema: Schema): JsonSchema {
  const converted = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  });
  return repair(without(converted as JsonSchema, '$schema'));
}

/** Rebuilds a schema with `change` applied to each of its parts, the innermost first. */
export function mapSchema(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, additionalProperties } = schema;
  return change({
    ...schema,
    ...(properties && { properties: mapValues(properties, (part) => mapSchema(part, change)) }),
    ...(items && { items: mapSchema(items, change) }),
    ...(additionalProperties && { additionalProperties: mapSchema(additionalProperties, change) }),
  });
}

export function mapValues<A, B>(
  values: Readonly<Record<string, A>>,
  change: (value: A) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}

export function without(schema: JsonSchema, ...keys: readonly (keyof JsonSchema)[]): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).filter(([key]) => !(keys as readonly string[]).includes(key)),
  );
}

function repair(schema: JsonSchema): JsonSchema {
  return mapSchema(schema, (part) => {
    const { anyOf, ...rest } = part as JsonSchema & { anyOf?: unknown };
    // The API server has an extension for a union of integer and string, and refuses `anyOf` with types in it.
    if (anyOf !== undefined && !rest['x-kubernetes-int-or-string']) {
      throw new Error(`a union is not structural: ${JSON.stringify(part).slice(0, 200)}`);
    }
    // `additionalProperties` and `preserve-unknown-fields` exclude each other.
    const free = rest['x-kubernetes-preserve-unknown-fields'];
    return inOrder(free ? without(rest, 'additionalProperties') : rest);
  });
}

function inOrder(schema: JsonSchema): JsonSchema {
  const unknown = Object.keys(schema).filter((key) => !(KEY_ORDER as readonly string[]).includes(key));
  if (unknown.length > 0) {
    throw new Error(`the API server knows no such key of a schema: ${unknown.join(', ')}`);
  }
  const entries = KEY_ORDER.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]]));
  return Object.fromEntries(entries) as JsonSchema;
}
