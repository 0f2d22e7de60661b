import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { clientCertificate, ensureClusterPki, ensureEtcdPki } from '../../../src/local/pki/authority.ts';
import { certificateProblem, parsePair } from '../../../src/local/pki/inspect.ts';
import { tempFolder } from '../../support/temp.ts';

const NOW = new Date('2030-01-01T00:00:00.000Z');
const DAY = 86_400_000;

describe('the keys and certificates of a cluster', () => {
  let folder: string;

  beforeEach(() => {
    folder = tempFolder('authority');
  });

  it('stay byte for byte what they are while they serve', async () => {
    await ensure(NOW);
    const before = contents();
    await ensure(later(300));
    expect(contents()).toEqual(before);
  });

  it('are renewed in their last month, under the same authority', async () => {
    const first = await ensure(NOW);
    const second = await ensure(later(340));
    expect(second.authority).toEqual(first.authority);
    expect(endOf(second.admin.certPem)).toEqual(later(340 + 365));
    expect(certificateProblem(second.admin, first.authority, requestAt(later(340)))).toBeUndefined();
  });

  it('are renewed when they have expired', async () => {
    await ensure(NOW);
    const { admin } = await ensure(later(800));
    expect(+endOf(admin.certPem)).toBeGreaterThan(+later(800));
  });

  it('are made for more names when more are wanted', async () => {
    await ensure(NOW);
    await ensure(NOW, ['hub.example.com', '192.0.2.7']);
    const server = new X509Certificate(parsePair(read('apiserver.pem'))?.certPem ?? '');
    expect(server.checkHost('hub.example.com')).toBe('hub.example.com');
    expect(server.checkIP('192.0.2.7')).toBe('192.0.2.7');
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
  });

  it.each(['apiserver.pem', 'admin.pem', 'sync.pem', 'ca.crt', 'sa.key'])(
    'lack nothing after %s was lost',
    async (name) => {
      const { authority } = await ensure(NOW);
      rmSync(join(folder, name));
      const again = await ensure(NOW);
      expect(again.authority).toEqual(authority);
      expect(read(name)).toMatch(/^-----BEGIN /);
    },
  );

  it.each(['', 'not a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
    'are made again where a file holds %j',
    async (rubbish) => {
      await ensure(NOW);
      writeFileSync(join(folder, 'admin.pem'), rubbish);
      const { admin, authority } = await ensure(NOW);
      expect(certificateProblem(admin, authority, requestAt(NOW))).toBeUndefined();
    },
  );

  it('are made again for a pair whose halves do not fit', async () => {
    const { authority } = await ensure(NOW);
    const [one, other] = ['a', 'b'].map((user) => clientCertificate(authority, { user }, NOW));
    writeFileSync(join(folder, 'admin.pem'), `${one?.certPem}${other?.keyPem}`);
    expect((await ensure(NOW)).admin.certPem).not.toBe(one?.certPem);
  });

  it('keep what is secret from other users', async () => {
    await ensure(NOW);
    const open = readdirSync(folder).filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0);
    expect(open).toEqual(['ca.crt']);
  });

  it('say who sync is, as a ServiceAccount and not as an administrator', async () => {
    const { sync } = await ensure(NOW);
    expect(new X509Certificate(sync.certPem).subject.split('\n')).toEqual([
      'O=system:serviceaccounts',
      'O=system:serviceaccounts:kubenode-system',
      'CN=system:serviceaccount:kubenode-system:kubenode-sync',
    ]);
  });

  it('of etcd are both server and client, and nobody else has that authority', async () => {
    const etcd = await ensureEtcdPki(folder, NOW);
    const server = new X509Certificate(parsePair(read('etcd.pem'))?.certPem ?? '');
    expect(server.keyUsage).toHaveLength(2);
    expect(new X509Certificate(etcd.client.certPem).verify(new X509Certificate(etcd.caPem).publicKey)).toBe(
      true,
    );
  });

  function ensure(now: Date, names: string[] = []): ReturnType<typeof ensureClusterPki> {
    return ensureClusterPki({ folder, name: 'hub', names, now });
  }

  function read(name: string): string {
    return readFileSync(join(folder, name), 'utf8');
  }

  function contents(): Record<string, string> {
    return Object.fromEntries(readdirSync(folder).map((name) => [name, read(name)]));
  }
});

describe('certificateProblem', () => {
  it.each([
    ['nothing while it serves', 0, [], undefined],
    ['nothing on the last day before the last month', 335, [], undefined],
    ['that it ends soon', 336, [], 'it expires on 2031-01-01T00:00:00.000Z'],
    ['that it has ended', 365, [], 'it expired on 2031-01-01T00:00:00.000Z'],
    ['which names it lacks', 0, ['localhost', '192.0.2.1'], 'it lacks localhost, 192.0.2.1'],
  ])('says %s', async (_, days, names, expected) => {
    const folder = tempFolder('problem');
    const { admin, authority } = await ensureClusterPki({ folder, name: 'hub', now: NOW });
    expect(certificateProblem(admin, authority, { ...requestAt(later(days)), names })).toBe(expected);
  });

  it('says that another CA signed it', async () => {
    const [ours, theirs] = await Promise.all(
      ['a', 'b'].map((name) => ensureClusterPki({ folder: tempFolder(name), name, now: NOW })),
    );
    if (!ours || !theirs) throw new Error('two clusters were made');
    expect(certificateProblem(theirs.admin, ours.authority, requestAt(NOW))).toBe('another CA signed it');
  });
});

function requestAt(now: Date): { subject: { commonName: string }; usage: 'client'; days: number; now: Date } {
  return { subject: { commonName: 'x' }, usage: 'client', days: 365, now };
}

function later(days: number): Date {
  return new Date(+NOW + days * DAY);
}

function endOf(certPem: string): Date {
  return new X509Certificate(certPem).validToDate;
}
