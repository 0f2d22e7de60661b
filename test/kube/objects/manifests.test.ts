import { describe, expect, it } from 'vitest';
import { readManifests } from '../../../src/kube/objects/manifests.ts';

const OBJECT = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n';

describe('readManifests', () => {
  it('reads many documents, with the line of each and of its fields', () => {
    const { manifests, problems } = readManifests(
      `# head\n${OBJECT}---\n---\n${OBJECT}data:\n  key: value\n`,
    );
    expect(problems).toEqual([]);
    expect(manifests.map(({ object, line }) => [object.metadata.name, line])).toEqual([
      ['a', 2],
      ['a', 8],
    ]);
    expect(manifests[1]?.lineOf(['data', 'key'])).toBe(13);
    expect(manifests[1]?.lineOf(['data', 'missing'])).toBe(13);
  });

  it('reads JSON as well', () => {
    const { manifests } = readManifests(
      '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}',
    );
    expect(manifests.map(({ object }) => object.kind)).toEqual(['ConfigMap']);
  });

  it('splits Lists, with the line of each item', () => {
    const text =
      'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: b}\n';
    expect(readManifests(text).manifests.map(({ object, line }) => [object.metadata.name, line])).toEqual([
      ['a', 4],
      ['b', 7],
    ]);
  });

  it('reads booleans and octal numbers as Kubernetes tools do', () => {
    const { manifests } = readManifests(`${OBJECT}mode: 0777\non: yes\n`);
    expect(manifests[0]?.object).toMatchObject({ mode: 511, true: true });
  });

  it.each([
    ['a duplicate key', `${OBJECT}data: {}\ndata: {}\n`, 6, 'Map keys must be unique'],
    ['a broken indent', 'apiVersion: v1\n kind: x\n', 1, /^Nested mappings|^Implicit/],
    [
      'a value that is not an object',
      '- a\n- b\n',
      1,
      'expected an object with apiVersion, kind and metadata',
    ],
    ['no kind', 'apiVersion: v1\nmetadata: {name: a}\n', 1, 'kind is missing, or not a string'],
    ['no metadata', 'apiVersion: v1\nkind: Secret\n', 1, 'metadata of this Secret is missing'],
    [
      'a name that is a number',
      'apiVersion: v1\nkind: Secret\nmetadata: {name: 1}\n',
      1,
      'metadata.name of this Secret is missing, or not a string (quote numbers)',
    ],
    [
      'a generated name',
      'apiVersion: v1\nkind: Secret\nmetadata: {generateName: a-}\n',
      1,
      'generateName of this Secret is not allowed: set metadata.name',
    ],
  ])('reports %s with its line', (_name, text, line, message) => {
    const { problems } = readManifests(text);
    expect(problems[0]?.line).toBe(line);
    expect(problems[0]?.message).toMatch(message);
  });

  it('reports every problem at once, and still returns the valid objects', () => {
    const { manifests, problems } = readManifests(`${OBJECT}---\nkind: x\n---\n[]\n`);
    expect(manifests).toHaveLength(1);
    expect(problems.map(({ line }) => line)).toEqual([6, 8]);
  });

  it('rejects aliases that expand to huge values', () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...'bcdefgh'
        .split('')
        .map(
          (letter, index) =>
            `${letter}: &${letter} [${Array.from({ length: 9 }, () => `*${'abcdefg'[index]}`).join(', ')}]`,
        ),
    ].join('\n');
    expect(readManifests(bomb).problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('Excessive alias count'),
    ]);
  });
});
