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
  it.each<[habit: string, broken: (schema: JsonSchema) => boolean]>([
    [
      'has a description',
      ({ description = '' }) => !/^[A-Z`<].*[.?…]$/.test(description) && !/^[a-z].*[.]$/.test(description),
    ],
    [
      'of text has a greatest length',
      ({ type, enum: values, maxLength }) => type === 'string' && !values && !maxLength,
    ],
    ['that is a list has a greatest size', ({ type, maxItems }) => type === 'array' && !maxItems],
    [
      'that is a list says how it is merged',
      (schema) => schema.type === 'array' && !schema['x-kubernetes-list-type'],
    ],
    [
      'that is a map has a greatest size',
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
      'of text has no format: with one, the API server would take a list for text',
      ({ format }) => format !== undefined,
    ],
    ['that is a choice has values to choose from', ({ enum: values }) => values?.length === 0],
    [
      'whose pattern is one that people have words for',
      ({ pattern }) => !!pattern && !PATTERNS.some(({ regex }) => regex === pattern),
    ],
    [
      'with a default is not required',
      (schema) => (schema.required ?? []).some((name) => schema.properties?.[name]?.default !== undefined),
    ],
    [
      'whose entries have keys requires them',
      (schema) =>
        (schema['x-kubernetes-list-map-keys'] ?? []).some((key) => !schema.items?.required?.includes(key)),
    ],
    [
      'with a rule has a message for people',
      (schema) => (schema['x-kubernetes-validations'] ?? []).some(({ message }) => message.length < 20),
    ],
    [
      'with a rule names a field that exists',
      (schema) =>
        (schema['x-kubernetes-validations'] ?? []).some(
          ({ fieldPath }) => fieldPath !== undefined && !leadsTo(schema, fieldPath),
        ),
    ],
  ])('%s', (_, broken) => {
    expect(FIELDS.filter(({ schema }) => broken(schema)).map(({ path }) => path)).toEqual([]);
  });

  it('whose name is a choice of words writes them in CamelCase, but for environments, providers and drivers', () => {
    const lower = FIELDS.filter(({ schema }) =>
      (schema.enum ?? []).some((value) => /^[a-z]/.test(String(value))),
    );
    const names = new Set(lower.map(({ path }) => path.split('.').at(-1) ?? ''));
    expect([...names].toSorted()).toEqual([
      'arch',
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
  it.each(PATTERNS.map(({ regex, words }) => [regex, words] as const))(
    '%s means the same to RE2 and is anchored',
    (regex, words) => {
      expect(() => RE2JS.compile(regex)).not.toThrow();
      expect(regex).toMatch(/^\^/);
      expect(words).not.toBe('');
    },
  );

  it('is in the list once', () => {
    const regexes = PATTERNS.map(({ regex, words }) => `${regex} ${words}`);
    expect(new Set(regexes).size).toBe(regexes.length);
  });
});

describe('every kind', () => {
  it('has names of its own', () => {
    for (const names of [
      KINDS.map(({ kind }) => kind),
      KINDS.map(({ plural }) => plural),
      KINDS.map(({ shortName }) => shortName),
    ]) {
      expect(new Set(names).size).toBe(12);
    }
  });

  it.each(KINDS.map((kind) => [kind.kind, kind] as const))(
    '%s: its columns read fields that exist, and end with Age',
    (_, kind) => {
      const schema = rootSchema(kind);
      const strangers = kind.columns.filter(
        ({ path }) => path !== '.metadata.creationTimestamp' && !leadsTo(schema, path),
      );
      expect(strangers).toEqual([]);
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
