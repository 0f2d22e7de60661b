import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { readAgeKeys } from '../../../src/kube/sops/age-keys.ts';
import { type Decrypted, decryptObject } from '../../../src/kube/sops/decrypt.ts';
import {
  encryptedObject,
  FIRST_IDENTITY,
  FIRST_RECIPIENT,
  firstKeys,
  POST_QUANTUM_IDENTITY,
  SECOND_IDENTITY,
  SECOND_RECIPIENT,
} from './encrypted-files.ts';

async function opened(name: string, identities = FIRST_IDENTITY): Promise<KubeObject> {
  const found = await decryptObject(encryptedObject(name), await readAgeKeys(identities));
  if ('problem' in found) throw new Error(found.problem);
  return found.object;
}

async function problemOf(object: KubeObject): Promise<string> {
  const found: Decrypted = await decryptObject(object, await firstKeys());
  return 'problem' in found ? found.problem : `decrypted: ${JSON.stringify(found.object)}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('decryptObject', () => {
  it('decrypts a Secret with comments, empty and long values and numeric keys, and sends all of it as data', async () => {
    expect(await opened('secret.yaml')).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'db',
        namespace: 'shop',
        annotations: { 'example.com/owner': 'payments', 'example.com/port': '5432' },
      },
      type: 'Opaque',
      data: {
        z: base64('last letter, first value'),
        10: base64('ten'),
        a: '',
        multi: base64('line 1\nline 2\n'),
        unicode: base64('ключ 🔑'),
        b: 'YmFzZTY0',
      },
      immutable: false,
    });
  });

  it('keeps numbers, booleans, null, lists and empty values of another kind', async () => {
    expect(await opened('nested.yaml')).toEqual({
      apiVersion: 'example.com/v1',
      kind: 'Database',
      metadata: { name: 'orders', namespace: 'shop' },
      spec: {
        public: { replicas: 3, ratio: 0.0000015, on: true, off: false, none: null },
        data: {
          port: 5432,
          ratio: 2.5,
          small: -0.0000015,
          large: 12345678901,
          enabled: true,
          disabled: false,
          none: null,
          list: [1, 'two', { three: [true, '4'] }, []],
          empty: {},
          date: '2024-01-01',
          word: 'yes',
        },
      },
    });
  });

  it.each<[what: string, file: string, identities: string]>([
    ['by the first of two recipients', 'secret.yaml', FIRST_IDENTITY],
    ['by the second of two recipients', 'secret.yaml', SECOND_IDENTITY],
    ['while the key is replaced', 'suffix.yaml', `${SECOND_IDENTITY}\n${FIRST_IDENTITY}\n`],
    ['of which a suffix names the encrypted values', 'suffix.yaml', FIRST_IDENTITY],
    ['of which a regular expression names the plain values', 'unencrypted-regex.yaml', FIRST_IDENTITY],
    ['of which a comment names the encrypted values', 'comment.yaml', FIRST_IDENTITY],
    ['in JSON', 'secret.json', FIRST_IDENTITY],
    ['with a post-quantum key', 'post-quantum.yaml', POST_QUANTUM_IDENTITY],
  ])('decrypts a file %s', async (_, file, identities) => {
    const { data, sops } = await opened(file, identities);
    expect(JSON.stringify(data)).not.toContain('ENC[');
    expect(sops).toBeUndefined();
  });

  it('decrypts an object to which a program added labels and annotations', async () => {
    const object = encryptedObject('secret.yaml');
    const metadata = {
      ...object.metadata,
      labels: { team: 'payments' },
      annotations: { a: 'b', ...object.metadata.annotations },
    };
    const found = await decryptObject({ ...object, metadata }, await firstKeys());
    expect(found).toMatchObject({ object: { metadata } });
  });

  it.each<[what: string, file: string, reason: RegExp]>([
    [
      'has key groups',
      'groups.yaml',
      /^it has key groups, of which sync cannot have all keys: encrypt it with/,
    ],
    [
      'has a checksum without its name',
      'mac-only.yaml',
      /does not protect name and namespace: encrypt it again/,
    ],
    [
      'has a time',
      'time.yaml',
      /^stringData.since cannot be decrypted: its type time is not supported: quote/,
    ],
    ['has a number where the API takes text', 'number.yaml', /^the value of port is a number: quote it/],
    [
      'has an encrypted name',
      'unencrypted-suffix.yaml',
      /^apiVersion is encrypted: encrypt with --encrypted-regex/,
    ],
    [
      'is for another key',
      'post-quantum.yaml',
      new RegExp(
        `^it is encrypted for age1pq1.{40,60}…, and sync has the keys of ${FIRST_RECIPIENT}: add the`,
      ),
    ],
  ])('refuses a file that %s', async (_, file, reason) => {
    expect(await problemOf(encryptedObject(file))).toMatch(reason);
  });

  const CHECKSUM = /^its checksum differs \(sops.mac\): it was changed without sops, or by the program/;
  const MOVED = /cannot be decrypted: it was changed, or moved here from another field$/;

  it.each<[what: string, edit: (text: string) => string, reason: RegExp]>([
    ['a plain value was changed', (text) => text.replace('payments', 'attacker'), CHECKSUM],
    ['the namespace was changed', (text) => text.replace('namespace: shop', 'namespace: evil'), CHECKSUM],
    ['a plain value was added', (text) => text.replace('stringData:', 'stringData:\n    n: m'), CHECKSUM],
    ['a value was removed', (text) => text.replace(/ {4}"10": .*\n/, ''), CHECKSUM],
    ['an encrypted value was replaced by text', (text) => text.replace(/z: ENC.*\]/, 'z: x'), CHECKSUM],
    ['two values were swapped', (text) => swap(text, 'z', '"10"'), MOVED],
    ['a tag was changed', (text) => text.replace(/(unicode: .*tag:)..../, '$1AAAA'), MOVED],
    [
      'a tag was cut',
      (text) => text.replace(/(unicode: .*tag:)[^,]*/, '$1AAAA'),
      /unicode cannot .* not in the format of SOPS$/,
    ],
    [
      'the checksum was cut',
      (text) => text.replace(/mac: ENC.*/, 'mac: ENC[AES256_GCM,]'),
      /sops.mac cannot/,
    ],
    [
      'the time of the checksum was changed',
      (text) => text.replace(/"20\d\d-/, '"2001-'),
      /sops.mac .* changed/,
    ],
    [
      'the wrapped keys were swapped',
      swapRecipients,
      /^the wrapped data key is damaged: encrypt the file again/,
    ],
    [
      'a wrapped key was cut',
      (text) => text.replace('-----END AGE', '-----EN'),
      /wrapped data key is damaged/,
    ],
    [
      'no recipient is left',
      (text) => text.replace('age:', 'pgp:'),
      /^it has no age recipient: add one with/,
    ],
  ])('refuses a file in which %s', async (_, edit, reason) => {
    const found = await problemOf(encryptedObject('secret.yaml', edit));
    expect(found).toMatch(reason);
    expect(found).not.toMatch(/payments|last letter|ключ/);
  });

  it.each<[what: string, more: Partial<KubeObject>, reason: RegExp]>([
    [
      'a field',
      { extra: { a: 1 } },
      /^extra.a was added after it was encrypted: add it to the file with `sops/,
    ],
    [
      'another namespace',
      { metadata: { name: 'db', namespace: 'x' } },
      /annotations.*was removed after it was/,
    ],
    [
      'no order',
      { sops: { mac: 'ENC[]', lastmodified: '', age: [{ recipient: 'a', enc: 'b' }] } },
      /use|YamlFile/,
    ],
  ])('refuses an object to which a program gave %s', async (_, more, reason) => {
    expect(await problemOf({ ...encryptedObject('secret.yaml'), ...more })).toMatch(reason);
  });

  it('refuses a namespace that the file does not have', async () => {
    const object = encryptedObject('secret.yaml', (text) => text.replace('    namespace: shop\n', ''));
    const moved = { ...object, metadata: { ...object.metadata, namespace: 'evil' } };
    expect(await problemOf(moved)).toMatch(/^metadata.namespace was added after it was encrypted/);
  });

  it('names the recipients of the file and those of sync', async () => {
    const found = await decryptObject(
      encryptedObject('secret.yaml'),
      await readAgeKeys(POST_QUANTUM_IDENTITY),
    );
    const problem = 'problem' in found ? found.problem : '';
    expect(problem).toContain(
      `for ${FIRST_RECIPIENT}, ${SECOND_RECIPIENT}, and sync has the keys of age1pq1`,
    );
    expect(problem).toContain('sops updatekeys');
    expect(problem.length).toBeLessThan(600);
  });
});

function swap(text: string, one: string, other: string): string {
  const [first = '', second = ''] = [one, other].map(
    (key) => new RegExp(`${key}: (ENC.*\\])`).exec(text)?.[1],
  );
  return text.replace(first, '@').replace(second, first).replace('@', second);
}

function swapRecipients(text: string): string {
  return text
    .replace(FIRST_RECIPIENT, '@')
    .replace(SECOND_RECIPIENT, FIRST_RECIPIENT)
    .replace('@', SECOND_RECIPIENT);
}
