import { describe, expect, it } from 'vitest';
import { rootSchema } from '../../../src/api/generate/crd.ts';
import type { JsonSchema } from '../../../src/api/generate/json-schema.ts';
import { KINDS } from '../../../src/api/kinds/registry.ts';
import { ANNOTATION_SECRET_USE } from '../../../src/api/names.ts';
import { SECRET_REFERENCE_FIELDS, secretReferences } from '../../../src/api/secrets/references.ts';

/** Fields that only look like a reference to a Secret by their name, each with what it is. */
const RETRY = 'a new value makes the controller try again';
const NO_SECRETS: Readonly<Record<string, string>> = {
  'Cluster.spec.hosted.retryToken': RETRY,
  'Machine.spec.retryToken': RETRY,
  'Machine.spec.components[].assignment.retryToken': RETRY,
  'MachineComponentSet.spec.retryToken': RETRY,
};

interface Field {
  readonly path: string;
  readonly schema: JsonSchema;
}

function fieldsOf(path: string, { properties = {}, items, additionalProperties }: JsonSchema): Field[] {
  const named = Object.entries(properties).map(([name, schema]) => ({ path: `${path}.${name}`, schema }));
  const inner = [items, additionalProperties].flatMap((schema) =>
    schema ? [{ path: `${path}[]`, schema }] : [],
  );
  return [...named, ...inner].flatMap((field) => [field, ...fieldsOf(field.path, field.schema)]);
}

const FIELDS = KINDS.flatMap((kind) =>
  fieldsOf(kind.kind, { properties: rootSchema(kind).properties?.['spec']?.properties ?? {} }).map(
    ({ path, schema }) => ({ path: path.replace(`${kind.kind}.`, `${kind.kind}.spec.`), schema }),
  ),
);

/** A name, or a name and a key; or named like one. */
function isReference({ path, schema: { properties } }: Field): boolean {
  const fields = Object.keys(properties ?? {})
    .toSorted()
    .join();
  const last = path.split('.').at(-1) ?? '';
  return fields === 'key,name' || /secret|credential|password|token|kubeconfig|sops|keysRef$/i.test(last);
}

describe('SECRET_REFERENCE_FIELDS', () => {
  const listed = SECRET_REFERENCE_FIELDS.map(({ kind, path }) => `${kind}.${path.join('.')}`);

  it('SAF-8 has every field of our kinds that references a Secret', () => {
    const found = FIELDS.filter((field) => isReference(field) && !(field.path in NO_SECRETS));
    expect(found.map(({ path }) => path).toSorted()).toEqual(listed.toSorted());
  });

  it.each(SECRET_REFERENCE_FIELDS)(
    'has the default key of $kind $path, which names the annotation',
    ({ kind, path, key, use }) => {
      const field = FIELDS.find((each) => each.path === `${kind}.${path.join('.')}`);
      expect(field?.schema.properties?.['key']?.default).toBe(key);
      expect(field?.schema.description).toMatch(new RegExp(`${ANNOTATION_SECRET_USE}: "${use}(; HOST)?"`));
    },
  );
});

describe('secretReferences', () => {
  it.each(SECRET_REFERENCE_FIELDS)('finds $kind $path', ({ kind, path, use, key = 'given' }) => {
    const reference = path
      .toReversed()
      .reduce<object>((inner, name) => ({ [name]: inner }), { name: 'a', key });
    const object = { metadata: { name: 'x' }, ...reference };
    expect(secretReferences(kind, object)).toEqual([{ name: 'a', key, use, user: `${kind} x` }]);
  });

  it('applies the default key, and ignores references of other kinds', () => {
    const object = { metadata: { name: 'x' }, spec: { source: { credentialsRef: { name: 'a' } } } };
    expect(secretReferences('Pipeline', object)).toMatchObject([{ name: 'a', key: 'token' }]);
    expect(secretReferences('Cluster', object)).toEqual([]);
  });
});
