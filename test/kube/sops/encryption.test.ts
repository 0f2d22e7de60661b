import { describe, expect, it } from 'vitest';
import { valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { readEncryption } from '../../../src/kube/sops/encryption.ts';
import { encryptedObject, FIRST_RECIPIENT, SECOND_RECIPIENT } from './encrypted-files.ts';

/** Changes the metadata of SOPS. */
function withSops(change: Record<string, unknown>): KubeObject {
  const object = encryptedObject('secret.yaml');
  return { ...object, sops: { ...(object['sops'] as object), ...change } };
}

function problemOf(object: KubeObject): string | undefined {
  return readEncryption(object).problem;
}

const LEAVES = valueAt(encryptedObject('secret.yaml'), 'sops', 'leaves') as unknown[];
const LONG = { recipient: FIRST_RECIPIENT, enc: 'x'.repeat(8193) };

describe('readEncryption', () => {
  it('reads the recipients, the checksum and the order without a key', () => {
    const read = readEncryption(encryptedObject('secret.yaml'));
    const encryption = 'encryption' in read ? read.encryption : undefined;
    expect(encryption?.recipients.map(({ recipient }) => recipient)).toEqual([
      FIRST_RECIPIENT,
      SECOND_RECIPIENT,
    ]);
    expect(encryption?.leaves).toHaveLength(14);
    expect(encryption?.mac).toMatch(/^ENC\[/);
  });

  it.each<[what: string, change: Record<string, unknown>, reason: RegExp]>([
    ['key groups', { key_groups: [] }, /^it has key groups/],
    ['a threshold of shares', { shamir_threshold: 2 }, /^it has key groups/],
    ['a checksum over encrypted values only', { mac_only_encrypted: true }, /name and namespace/],
    ['no time', { lastmodified: undefined }, /^sops.lastmodified is missing/],
    [
      'only keys of a cloud',
      { age: undefined, kms: [{ arn: 'a' }] },
      /^it has no age recipient: add one with/,
    ],
    ['recipients of another shape', { age: ['x', { recipient: 1 }] }, /^it has no age recipient/],
    [
      'too many recipients',
      { age: Array.from({ length: 101 }, () => ({ recipient: 'a', enc: 'b' })) },
      /^expected at most 100 rec/,
    ],
    ['a long wrapped key', { age: [LONG] }, /^a wrapped data key is too long/],
    [
      'too many values',
      { leaves: Array.from({ length: 1001 }, () => []) },
      /^expected at most 1000 values: spl/,
    ],
    ['no order', { leaves: undefined }, /^the order of its values is unknown: read the file with YamlFile/],
    ['an order of other things', { leaves: [...LEAVES, 'x'] }, /^a field was removed after it was encrypted/],
    ['a value twice', { leaves: [...LEAVES, ['kind']] }, /^a field was removed after it was encrypted/],
    [
      'a value that is missing',
      { leaves: [...LEAVES, ['spec', 'a']] },
      /^spec.a was removed after it was encr/,
    ],
    [
      'a value without its place',
      { leaves: LEAVES.slice(1) },
      /^apiVersion was added after it was encrypted/,
    ],
  ])('refuses %s', (_, change, reason) => {
    expect(problemOf(withSops(change))).toMatch(reason);
  });

  it('refuses an encrypted name, which reviewers and the checks of sync need', () => {
    const object = encryptedObject('secret.yaml', (text) =>
      text.replace('name: db', 'name: ENC[AES256_GCM,data:a]'),
    );
    expect(problemOf(object)).toMatch(
      /^metadata.name is encrypted: encrypt with --encrypted-regex '\^\(data\|str/,
    );
  });
});
