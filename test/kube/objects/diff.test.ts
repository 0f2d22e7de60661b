import { describe, expect, it } from 'vitest';
import { dryRunApply, formatDryRun } from '../../../src/kube/client/dry-run.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { diffObjects, formatDifferences } from '../../../src/kube/objects/diff.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { redactSecret } from '../../../src/kube/objects/redact-secret.ts';

function thing(
  fields: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>> = {},
): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', ...fields, metadata: { name: 'a', ...metadata } };
}

function secret(
  fields: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>> = {},
): KubeObject {
  return { ...thing(fields, metadata), kind: 'Secret' };
}

describe('diffObjects', () => {
  it.each<[name: string, before: object, after: object, lines: string[]]>([
    ['nothing', { spec: { a: 1 } }, { spec: { a: 1 } }, []],
    ['a scalar', { spec: { a: 1 } }, { spec: { a: 2 } }, ['~ spec.a: 1 → 2']],
    ['another type', { spec: { a: 1 } }, { spec: { a: '1' } }, ['~ spec.a: 1 → "1"']],
    ['a field that appears', { spec: {} }, { spec: { a: null } }, ['+ spec.a: null']],
    ['a field that goes', { spec: { a: false } }, { spec: {} }, ['- spec.a: false']],
    [
      'an object that appears, by its fields',
      {},
      { spec: { a: { b: 1, c: 2 } } },
      ['+ spec.a.b: 1', '+ spec.a.c: 2'],
    ],
    ['an empty object that appears', {}, { spec: {} }, ['+ spec: {}']],
    [
      'an object that becomes a scalar',
      { spec: { a: { b: 1 } } },
      { spec: { a: 1 } },
      ['~ spec.a: {"b":1} → 1'],
    ],
    [
      'an object that becomes null',
      { spec: { a: { b: 1 } } },
      { spec: { a: null } },
      ['~ spec.a: {"b":1} → null'],
    ],
    ['keys with dots', { spec: {} }, { spec: { 'x.y/z': 1 } }, ['+ spec["x.y/z"]: 1']],
    [
      'named items, by name',
      {
        spec: {
          containers: [
            { name: 'a', image: 'x:1' },
            { name: 'b', image: 'y:1' },
          ],
        },
      },
      { spec: { containers: [{ name: 'b', image: 'y:1' }, { name: 'a', image: 'x:2' }, { name: 'c' }] } },
      ['~ spec.containers[a].image: "x:1" → "x:2"', '+ spec.containers[c].name: "c"'],
    ],
    [
      'named items that only changed places, as a whole',
      { spec: [{ name: 'a' }, { name: 'b' }] },
      { spec: [{ name: 'b' }, { name: 'a' }] },
      ['~ spec: [{"name":"a"},{"name":"b"}] → [{"name":"b"},{"name":"a"}]'],
    ],
    [
      'other items, by place',
      { args: ['a', 'b'] },
      { args: ['a', 'c', 'd'] },
      ['~ args[1]: "b" → "c"', '+ args[2]: "d"'],
    ],
    [
      'items with one name twice, by place',
      { l: [{ name: 'a' }, { name: 'a' }] },
      { l: [{ name: 'a' }] },
      ['- l[1].name: "a"'],
    ],
    ['the first item', { l: [] }, { l: [1] }, ['+ l[0]: 1']],
    ['status', { status: { a: 1 } }, { status: { a: 2 } }, []],
  ])('shows %s', (_, before, after, lines) => {
    expect(formatDifferences(diffObjects(thing({ ...before }), thing({ ...after })))).toEqual(lines);
  });

  it('leaves the bookkeeping of the server out', () => {
    const before = thing({}, { resourceVersion: '1', generation: 1, uid: 'u', managedFields: [] });
    const lastApplied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const after = thing(
      {},
      { resourceVersion: '2', generation: 2, uid: 'v', creationTimestamp: 'now', annotations: lastApplied },
    );
    expect(diffObjects(before, after)).toEqual([]);
    expect(diffObjects(thing({}), thing({}, { annotations: { a: '1' } }))).toHaveLength(1);
  });

  it('compares the values of a Secret and shows none of them', () => {
    const before = secret({ data: { same: 'c2FtZQ==', old: 'b2xk', gone: 'Z29uZQ==' }, type: 'Opaque' });
    const after = secret({
      data: { same: 'c2FtZQ==', old: 'bmV3', fresh: 'ZnJlc2g=' },
      stringData: { 'a.b': 'x' },
      type: 'Other',
    });
    const found = diffObjects(before, after);
    expect(formatDifferences(found)).toEqual([
      '+ data.fresh: ***',
      '- data.gone: ***',
      '~ data.old: *** → ***',
      '+ stringData["a.b"]: ***',
      '~ type: "Opaque" → "Other"',
    ]);
    expect(JSON.stringify(found)).not.toMatch(/b2xk|bmV3|Z29uZQ|ZnJlc2g/);
  });

  it('hides a Secret that becomes one, and data that is no object', () => {
    const found = diffObjects(thing({ data: 'clear' }), secret({ data: { a: 'YQ==' } }));
    expect(JSON.stringify(found)).not.toMatch(/clear|YQ==/);
  });
});

describe('redactSecret', () => {
  it('keeps the keys of a Secret and hides the values, also those that kubectl wrote down', () => {
    const lastApplied = {
      'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"a":"YQ=="}}',
      other: '1',
    };
    expect(
      redactSecret(secret({ data: { a: 'YQ==' }, stringData: { b: 'c' } }, { annotations: lastApplied })),
    ).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'a',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '***', other: '1' },
      },
      data: { a: '***' },
      stringData: { b: '***' },
    });
  });

  it('leaves other kinds alone', () => {
    const object = thing({ data: { a: '1' } });
    expect(redactSecret(object)).toBe(object);
  });
});

describe('dryRunApply', () => {
  const resource = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false };

  it.each<[KubeObject | KubeError, string]>([
    [new KubeError('NotFound', 'no'), 'create Thing a'],
    [thing({ spec: 1 }), 'update Thing a\n  ~ spec: 1 → 2'],
    [thing({ spec: 2 }), 'no change to Thing a'],
  ])('says %#', async (live, text) => {
    const wanted = thing({ spec: 2 });
    expect(
      formatDryRun(await dryRunApply(server(live, wanted), resource, wanted, { fieldManager: 'me' })),
    ).toBe(text);
  });

  it.each(['Unreachable', 'Forbidden', 'BadAnswer'] as const)(
    'takes %s for no answer, not for absence',
    async (code) => {
      const wanted = thing({});
      const outcome = dryRunApply(server(new KubeError(code, 'x'), wanted), resource, wanted, {
        fieldManager: 'me',
      });
      await expect(outcome).rejects.toMatchObject({ code });
    },
  );
});

function server(live: KubeObject | KubeError, result: KubeObject): Parameters<typeof dryRunApply>[0] {
  return {
    get: () => (live instanceof KubeError ? Promise.reject(live) : Promise.resolve(live as never)),
    apply: (_, __, { dryRun }) =>
      dryRun ? Promise.resolve(result as never) : Promise.reject(new Error('not dry')),
  };
}
