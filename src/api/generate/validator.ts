/** `src/api/generated/validators/<kind>.ts`: ajv as plain code, which decides as the API server does, CEL aside. */
import { _, Ajv, type CodeKeywordDefinition, type KeywordCxt, type Name, stringify } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import type { Kind } from '../kind.ts';
import { duplicateOf, re2 } from '../validation/runtime.ts';
import { markedSchema } from './crd.ts';
import { type GeneratedFile, HEADER } from './file.ts';
import { type JsonSchema, mapValues } from './json-schema.ts';
import { METADATA } from './metadata.ts';

/** Our keyword for the fields that an object may have. */
const KNOWN = 'x-kubenode-fields';

const FOLDER = 'src/api/generated/validators';

/** The names by which generated code calls validation/runtime.ts. */
const RUNTIME = "import { duplicateOf, lengthOf, re2 } from '../../validation/runtime.ts';\n";

export function validatorFiles(kinds: readonly Kind[]): readonly GeneratedFile[] {
  return [...kinds.map((kind) => validatorFile(kind)), indexFile(kinds)];
}

function validatorFile(kind: Kind): GeneratedFile {
  const ajv = newAjv();
  const code = shorter(standalone.default(ajv, ajv.compile(validationSchema(kind))));
  const required = /require\([^)]*\)/.exec(code);
  if (required) {
    throw new Error(`the validator of ${kind.kind} needs ${required[0]}, which validation/runtime.ts lacks`);
  }
  const text = [`// @ts-nocheck -- plain JavaScript, made by ajv\n${HEADER}`, RUNTIME, code].join('\n');
  return { path: `${FOLDER}/${kind.kind.toLowerCase()}.ts`, text };
}

/** ajv spends seven lines on every error; one does. And its helpers are ours, so that nothing is loaded for them. */
function shorter(code: string): string {
  return code
    .replace('"use strict";\n', '')
    .replace(/export default \w+;\n?/, '')
    .replaceAll('require("ajv/dist/runtime/ucs2length").default', 'lengthOf')
    .replaceAll(
      /const (err\d+) = (\{.*\});\nif\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}\n/g,
      (_match, _name, error: string) => `(vErrors ??= []).push(${withoutPlace(error)});\n`,
    );
}

/** Where in the schema an error comes from matters only for branches of a choice. */
function withoutPlace(error: string): string {
  return error.replace(/schemaPath:"(?![^"]*\/oneOf\/)[^"]*",/, '');
}

function indexFile(kinds: readonly Kind[]): GeneratedFile {
  const imports = kinds.map(({ kind }) => `import * as ${kind} from './${kind.toLowerCase()}.ts';\n`);
  const entries = kinds.map(({ kind }) => `  ['${kind}', ${kind} as unknown as Validator],\n`);
  const text = [
    `${HEADER}\nimport type { Validator } from '../../validate.ts';\n`,
    ...imports.toSorted(),
    '\nexport const VALIDATORS: ReadonlyMap<string, Validator> = new Map([\n',
    ...entries,
    ']);\n',
  ].join('');
  return { path: `${FOLDER}/index.ts`, text };
}

function newAjv(): Ajv {
  const regExp = Object.assign(re2, { code: 're2' });
  const ajv = new Ajv({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    allErrors: true,
    messages: false,
    inlineRefs: false,
    code: { source: true, esm: true, lines: true, regExp },
  });
  ajv.addKeyword(LIST_MAP_KEYS);
  ajv.addKeyword(KNOWN_FIELDS);
  return ajv;
}

const LIST_MAP_KEYS: CodeKeywordDefinition = {
  keyword: 'x-kubernetes-list-map-keys',
  type: 'array',
  schemaType: 'array',
  error: { message: 'duplicate', params: ({ params }) => _`{ index: ${params['index']} }` },
  code(cxt: KeywordCxt) {
    const { gen, data } = cxt;
    const call = gen.scopeValue('func', { ref: duplicateOf, code: _`duplicateOf` });
    const index = gen.const('duplicate', _`${call}(${data}, ${stringify(cxt.schema)})`);
    cxt.setParams({ index });
    cxt.fail(_`${index} !== -1`);
  },
};

/** As `additionalProperties: false`, with the known fields at hand to guess what was meant. */
const KNOWN_FIELDS: CodeKeywordDefinition = {
  keyword: KNOWN,
  type: 'object',
  schemaType: 'array',
  error: {
    message: 'unknown',
    params: ({ params }) => _`{ field: ${params['field']}, known: ${params['known']} }`,
  },
  code(cxt: KeywordCxt) {
    const { gen, data } = cxt;
    const known = gen.const('known', stringify(cxt.schema));
    gen.forIn('field', data, (field: Name) => {
      cxt.setParams({ field, known });
      gen.if(_`!${known}.includes(${field})`, () => cxt.error());
    });
  },
};

interface ValidationSchema {
  readonly $defs?: Readonly<Record<string, ValidationSchema>>;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly [keyword: string]: unknown;
}

/** Each type becomes a definition, so that its code is there once. */
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

  /** Types that are cut at some depth have a definition for each. */
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

/** The CRD bounds the name; the rest holds for all objects. */
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
