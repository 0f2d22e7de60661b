import { describe, expect, it } from 'vitest';
import { valueAt } from '../../../src/kube/objects/json.ts';
import { readManifests } from '../../../src/kube/objects/manifests.ts';
import { isSopsEncrypted } from '../../../src/kube/sops/leaves.ts';
import { encryptedObject, fileText } from './encrypted-files.ts';

const MAC = 'sops: {mac: x}';

function problems(text: string): string {
  return readManifests(text)
    .problems.map(({ line, message }) => `${line}: ${message}`)
    .join('; ');
}

describe('isSopsEncrypted', () => {
  it.each<[what: string, object: unknown, expected: boolean]>([
    ['a Secret of SOPS', { apiVersion: 'v1', kind: 'Secret', sops: { mac: 'x' } }, true],
    ['another kind of SOPS', { apiVersion: 'example.com/v1', kind: 'Database', sops: { mac: 'x' } }, true],
    ['a SopsSecret', { apiVersion: 'isindir.github.com/v1', kind: 'SopsSecret', sops: { mac: 'x' } }, false],
    ['a field of this name', { apiVersion: 'v1', kind: 'Secret', sops: { replicas: 3 } }, false],
    ['text', { sops: 'mac' }, false],
    ['nothing', undefined, false],
  ])('decides about %s', (_, object, expected) => {
    expect(isSopsEncrypted(object)).toBe(expected);
  });
});

describe('withLeaves', () => {
  it('records the order of the file, which JavaScript changes for numeric keys', () => {
    const object = encryptedObject('secret.yaml');
    expect(Object.keys(object['stringData'] ?? {})[0]).toBe('10');
    expect(valueAt(object, 'sops', 'leaves')).toEqual([
      ['apiVersion'],
      ['kind'],
      ['metadata', 'name'],
      ['metadata', 'namespace'],
      ['metadata', 'annotations', 'example.com/owner'],
      ['metadata', 'annotations', 'example.com/port'],
      ['type'],
      ['stringData', 'z'],
      ['stringData', '10'],
      ['stringData', 'a'],
      ['stringData', 'multi'],
      ['stringData', 'unicode'],
      ['data', 'b'],
      ['immutable'],
    ]);
  });

  it('counts the items of lists, and leaves out null and empty values', () => {
    const leaves = JSON.stringify(valueAt(encryptedObject('nested.yaml'), 'sops', 'leaves'));
    expect(leaves).toContain('["spec","data","list",2,"three",1]');
    expect(leaves).not.toContain('none');
    expect(leaves).not.toContain('empty');
  });

  it('leaves objects that SOPS did not encrypt unchanged', () => {
    const [plain] = readManifests(
      '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, sops: {x: 1}}',
    ).manifests;
    expect(plain?.object['sops']).toEqual({ x: 1 });
  });

  const HEAD = 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}';

  it.each<[what: string, text: string, problem: RegExp]>([
    [
      'two objects',
      fileText('two.yaml'),
      /^1: an encrypted file has one object: put each object into a file of/,
    ],
    [
      'one object beside a plain one',
      `${HEAD}\n---\n${HEAD}\n${MAC}`,
      /^5: an encrypted file has one object/,
    ],
    ['a List', `apiVersion: v1\nkind: List\nitems: []\n${MAC}`, /^1: an encrypted file has one object/],
    [
      'an alias',
      `${HEAD}\na: &a {b: c}\nd: *a\n${MAC}`,
      /^1: an encrypted file cannot have YAML aliases: encrypt/,
    ],
    ['an alias in a list', `${HEAD}\na: &a {b: c}\nd: [*a]\n${MAC}`, /cannot have YAML aliases/],
  ])('refuses a file with %s', (_, text, problem) => {
    expect(problems(text)).toMatch(problem);
  });
});
