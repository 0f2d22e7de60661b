/** The JSON Schema of a whole object for ajv: the schema of the CRD without unknown fields, and that of metadata. */
import type { Kind } from '../kinds/kind.ts';
import { markedSchema } from './crd.ts';
import { type JsonSchema, mapValues } from './json-schema.ts';
import { METADATA } from './metadata.ts';

/** Custom keyword that lists the fields of an object. */
export const KNOWN = 'x-kubenode-fields';

export interface ValidationSchema {
  readonly $defs?: Readonly<Record<string, ValidationSchema>>;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly [keyword: string]: unknown;
}

/** Each type becomes a definition, so that its code is generated once. */
export function validationSchema(kind: Kind): ValidationSchema {
  const definitions = new Map<string, { readonly name: string; readonly schema: ValidationSchema }>();
  const { spec = {}, status = {}, metadata = {} } = markedSchema(kind).properties ?? {};
  return {
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: metadataOf(metadata),
      spec: convert(spec),
      status: convert(status),
    },
    [KNOWN]: ['apiVersion', 'kind', 'metadata', 'spec', 'status'],
    $defs: Object.fromEntries([...definitions.values()].map(({ name, schema }) => [name, schema])),
  };

  function convert(schema: JsonSchema): ValidationSchema {
    const type = schema['x-kubenode-type'];
    const body = constraintsOf(schema);
    if (type === undefined || schema['x-kubernetes-int-or-string']) return body;
    const text = JSON.stringify(body);
    const known = definitions.get(text) ?? { name: freeName(type), schema: body };
    definitions.set(text, known);
    return { $ref: `#/$defs/${known.name}` };
  }

  /** A recursive type has a definition for each depth. */
  function freeName(type: string): string {
    const names = new Set([...definitions.values()].map(({ name }) => name));
    let name = type;
    for (let n = 2; names.has(name); n += 1) name = `${type}${n}`;
    return name;
  }

  function constraintsOf(schema: JsonSchema): ValidationSchema {
    const { properties: fields, items, additionalProperties } = schema;
    return {
      ...kept(schema),
      ...(fields && { properties: mapValues(fields, convert), [KNOWN]: Object.keys(fields) }),
      ...(items && { items: convert(items) }),
      ...(additionalProperties && { additionalProperties: convert(additionalProperties) }),
    };
  }
}

/** The CRD limits the length of the name; the rest is the same for all objects. */
function metadataOf({ properties }: JsonSchema): ValidationSchema {
  const fields = METADATA.properties;
  const name = { ...fields.name, maxLength: properties?.['name']?.maxLength };
  return { ...METADATA, properties: { ...fields, name }, [KNOWN]: Object.keys(fields) };
}

const KEPT = [
  'type',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'oneOf',
  'x-kubernetes-list-map-keys',
] as const;

function kept(schema: JsonSchema): ValidationSchema {
  const entries = KEPT.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]] as const]));
  const union = schema['x-kubernetes-int-or-string'] ? { type: ['integer', 'string'] } : {};
  return { ...Object.fromEntries(entries), ...union };
}
