/** Habits of every kind, held for every field that there is and will be. */
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { crdOf, rootSchema } from '../../../src/api/generate/crd.ts';
import type { JsonSchema } from '../../../src/api/generate/json-schema.ts';
import { GROUP, KINDS, VERSION } from '../../../src/api/kinds/registry.ts';
import { PATTERNS } from '../../../src/api/patterns.ts';

interface Field {
  readonly path: string;
  readonly schema: JsonSchema;
}

const FIELDS: readonly Field[] = KINDS.flatMap((kind) => {
  const { spec = {}, status = {} } = rootSchema(kind).properties ?? {};
  return [...fieldsOf(`${kind.kind}.spec`, spec), ...fieldsOf(`${kind.kind}.status`, status)];
});

describe('every field', () => {
  it.each<[title: string, broken: (schema: JsonSchema) => boolean]>([
    [
      'has a description',
      ({ description = '' }) => !/^[A-Z`<].*[.?…]$/.test(description) && !/^[a-z].*[.]$/.test(description),
    ],
    [
      'of type string has a maxLength',
      ({ type, enum: values, maxLength }) => type === 'string' && !values && !maxLength,
    ],
    ['that is a list has maxItems', ({ type, maxItems }) => type === 'array' && !maxItems],
    [
      'that is a list has a list type',
      (schema) => schema.type === 'array' && !schema['x-kubernetes-list-type'],
    ],
    [
      'that is a map has maxProperties',
      ({ additionalProperties, maxProperties }) => !!additionalProperties && !maxProperties,
    ],
    [
      'that is an integer has both bounds, below 2^53',
      ({ type, minimum, maximum, enum: values }) =>
        type === 'integer' &&
        !values &&
        (minimum === undefined || maximum === undefined || maximum >= 2 ** 53),
    ],
    [
      'of type string has no format, with which the API server would accept a list',
      ({ format }) => format !== undefined,
    ],
    ['with an enum has values', ({ enum: values }) => values?.length === 0],
    [
      'has no pattern without a description',
      ({ pattern }) => !!pattern && !PATTERNS.some(({ regex }) => regex === pattern),
    ],
    [
      'with a default is not required',
      (schema) => (schema.required ?? []).some((name) => schema.properties?.[name]?.default !== undefined),
    ],
    [
      'that is a list map requires its keys',
      (schema) =>
        (schema['x-kubernetes-list-map-keys'] ?? []).some((key) => !schema.items?.required?.includes(key)),
    ],
    [
      'with a CEL rule has a message',
      (schema) => (schema['x-kubernetes-validations'] ?? []).some(({ message }) => message.length < 20),
    ],
    [
      'with a CEL rule names an existing field',
      (schema) =>
        (schema['x-kubernetes-validations'] ?? []).some(
          ({ fieldPath }) => fieldPath !== undefined && !leadsTo(schema, fieldPath),
        ),
    ],
  ])('%s', (_, broken) => {
    expect(FIELDS.filter(({ schema }) => broken(schema)).map(({ path }) => path)).toEqual([]);
  });

  it('with an enum has CamelCase values, except environments, providers and drivers', () => {
    const lower = FIELDS.filter(({ schema }) =>
      (schema.enum ?? []).some((value) => /^[a-z]/.test(String(value))),
    );
    const names = new Set(lower.map(({ path }) => path.split('.').at(-1) ?? ''));
    expect([...names].toSorted()).toEqual([
      'arch',
      'dimension',
      'dimensions[]',
      'driver',
      'environment',
      'fact',
      'host',
      'operator',
      'os',
      'provider',
      'type',
    ]);
  });
});

describe('every pattern', () => {
  it.each(PATTERNS.map(({ regex, description }) => [regex, description] as const))(
    '%s means the same in RE2 and is anchored',
    (regex, description) => {
      expect(() => RE2JS.compile(regex)).not.toThrow();
      expect(regex).toMatch(/^\^/);
      expect(description).not.toBe('');
    },
  );

  it('is listed once', () => {
    const regexes = PATTERNS.map(({ regex, description }) => `${regex} ${description}`);
    expect(new Set(regexes).size).toBe(regexes.length);
  });
});

describe('every kind', () => {
  it('has unique names', () => {
    for (const names of [
      KINDS.map(({ kind }) => kind),
      KINDS.map(({ plural }) => plural),
      KINDS.map(({ shortName }) => shortName),
    ]) {
      expect(new Set(names).size).toBe(14);
    }
  });

  it.each(KINDS.map((kind) => [kind.kind, kind] as const))(
    '%s: its columns read fields that exist, and end with Age',
    (_, kind) => {
      const schema = rootSchema(kind);
      const unknownColumns = kind.columns.filter(
        ({ path }) => path !== '.metadata.creationTimestamp' && !leadsTo(schema, path),
      );
      expect(unknownColumns).toEqual([]);
      expect(kind.columns.filter(({ wide }) => !wide).at(-1)?.name).toBe('Age');
    },
  );

  it.each(KINDS.map((kind) => [kind.kind, kind] as const))(
    '%s: is cluster-scoped, in our category, with a status of its own',
    (_, kind) => {
      expect(crdOf(kind, GROUP, VERSION)['spec']).toMatchObject({
        scope: 'Cluster',
        names: { categories: ['kubenode'], singular: kind.kind.toLowerCase() },
        versions: [{ subresources: { status: {} } }],
      });
    },
  );
});

/** Whether a path such as `.spec.stages[0].name` ends at a field. */
function leadsTo(schema: JsonSchema, path: string): boolean {
  const parts = path
    .replaceAll(/\[[^\]]*\]/g, '.[]')
    .split('.')
    .filter((part) => part !== '');
  let place: JsonSchema | undefined = schema;
  for (const part of parts) place = part === '[]' ? place?.items : place?.properties?.[part];
  return place !== undefined;
}

function fieldsOf(path: string, schema: JsonSchema): Field[] {
  const { properties = {}, items, additionalProperties } = schema;
  return [
    { path, schema },
    ...Object.entries(properties).flatMap(([name, part]) => fieldsOf(`${path}.${name}`, part)),
    ...(items ? fieldsOf(`${path}[]`, items) : []),
    ...(additionalProperties ? fieldsOf(`${path}{}`, additionalProperties) : []),
  ];
}
