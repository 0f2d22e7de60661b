import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureEtcdPki } from '../../../src/local/pki/authority.ts';
import { createServiceAccountKey } from '../../../src/local/pki/certificate.ts';
import { etcdLeaves } from '../../../src/local/pki/leaves.ts';
import { keyDigest, reportLeaf } from '../../../src/local/pki/report.ts';
import { tempFolder } from '../../support/temp.ts';

const NOW = new Date('2030-01-01T00:00:00.000Z');
const LIFE = { now: NOW, seconds: 7200, renewAtPercent: 50 };

describe('the report of a certificate', () => {
  it('has when it was issued, when it is renewed, and when it ends', async () => {
    const folder = tempFolder('report');
    await ensureEtcdPki(folder, LIFE);
    const [leaf] = etcdLeaves(folder, LIFE);
    if (!leaf) throw new Error('expected a certificate');
    const { due, file } = await reportLeaf(leaf);
    expect([due, file?.issuedAt, file?.renewAt, file?.notAfter]).toEqual([
      undefined,
      NOW,
      new Date(+NOW + 3_600_000),
      new Date(+NOW + 7_200_000),
    ]);
  });

  it.each([
    ['it is missing', (folder: string) => rmSync(join(folder, 'etcd.pem'))],
    ['it is damaged', (folder: string) => writeFileSync(join(folder, 'etcd.pem'), 'x')],
    ['its CA cannot be read', (folder: string) => rmSync(join(folder, 'ca.pem'))],
    [
      'it is not of etcd',
      (folder: string) => writeFileSync(join(folder, 'etcd.pem'), readFileSync(join(folder, 'client.pem'))),
    ],
  ])('says that %s', async (expected, spoil) => {
    const folder = tempFolder('report');
    await ensureEtcdPki(folder, LIFE);
    spoil(folder);
    const [leaf] = etcdLeaves(folder, LIFE);
    // Without names the subject is what tells the two apart.
    const named = leaf && { ...leaf, request: { ...leaf.request, names: [] } };
    expect((named && (await reportLeaf(named)))?.due).toBe(expected);
  });
});

describe('the digest of a key', () => {
  it('is the same for the same key, and another one for another key', async () => {
    const folder = tempFolder('digest');
    const path = join(folder, 'sa.key');
    writeFileSync(path, createServiceAccountKey());
    const first = await keyDigest(path);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await keyDigest(path)).toBe(first);
    writeFileSync(path, createServiceAccountKey());
    expect(await keyDigest(path)).not.toBe(first);
  });

  it('of a CA is missing where its certificate and its key do not match', async () => {
    const [one, two] = [tempFolder('one'), tempFolder('two')];
    await ensureEtcdPki(one, LIFE);
    await ensureEtcdPki(two, LIFE);
    const [mine, theirs] = [one, two].map((folder) => readFileSync(join(folder, 'ca.pem'), 'utf8'));
    const mixed = `${mine?.split('-----BEGIN PRIVATE')[0]}-----BEGIN PRIVATE${theirs?.split('-----BEGIN PRIVATE')[1]}`;
    expect(await keyDigest(join(one, 'ca.pem'))).toBeDefined();
    writeFileSync(join(one, 'ca.pem'), mixed);
    expect(await keyDigest(join(one, 'ca.pem'))).toBeUndefined();
  });

  it.each(['', 'x', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'])(
    'is missing where the file contains %j',
    async (text) => {
      const path = join(tempFolder('digest'), 'key');
      expect(await keyDigest(path)).toBeUndefined();
      writeFileSync(path, text);
      expect(await keyDigest(path)).toBeUndefined();
    },
  );
});
