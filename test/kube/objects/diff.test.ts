import { describe, expect, it } from 'vitest';
import { diffObjects, formatDifferences } from '../../../src/kube/objects/diff.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

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
    ['an added field', { spec: {} }, { spec: { a: null } }, ['+ spec.a: null']],
    ['a removed field', { spec: { a: false } }, { spec: {} }, ['- spec.a: false']],
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

  it('ignores fields that the server maintains', () => {
    const before = thing({}, { resourceVersion: '1', generation: 1, uid: 'u', managedFields: [] });
    const lastApplied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const after = thing(
      {},
      { resourceVersion: '2', generation: 2, uid: 'v', creationTimestamp: 'now', annotations: lastApplied },
    );
    expect(diffObjects(before, after)).toEqual([]);
    expect(diffObjects(thing({}), thing({}, { annotations: { a: '1' } }))).toHaveLength(1);
  });

  it('compares the values of a Secret without showing them', () => {
    const before = secret({ data: { same: 'c2FtZQ==', old: 'b2xk', left: 'Z29uZQ==' }, type: 'Opaque' });
    const after = secret({
      data: { same: 'c2FtZQ==', old: 'bmV3', fresh: 'ZnJlc2g=' },
      stringData: { 'a.b': 'x' },
      type: 'Other',
    });
    const found = diffObjects(before, after);
    expect(formatDifferences(found)).toEqual([
      '+ data.fresh: ***',
      '- data.left: ***',
      '~ data.old: *** → ***',
      '+ stringData["a.b"]: ***',
      '~ type: "Opaque" → "Other"',
    ]);
    expect(JSON.stringify(found)).not.toMatch(/b2xk|bmV3|Z29uZQ|ZnJlc2g/);
  });

  it('hides the data of an object that becomes a Secret, and data that is not an object', () => {
    const found = diffObjects(thing({ data: 'clear' }), secret({ data: { a: 'YQ==' } }));
    expect(JSON.stringify(found)).not.toMatch(/clear|YQ==/);
  });
});
