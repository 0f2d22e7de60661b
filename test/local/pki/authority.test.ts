import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  ADMIN,
  ensureClusterPki,
  ensureEtcdPki,
  issueClientCertificate,
} from '../../../src/local/pki/authority.ts';
import type { CertificateRequest } from '../../../src/local/pki/certificate.ts';
import { parsePair, renewalReason } from '../../../src/local/pki/inspect.ts';
import { clientRequest } from '../../../src/local/pki/leaves.ts';
import { lifeOf } from '../../../src/local/pki/lifetime.ts';
import { tempFolder } from '../../support/temp.ts';

const NOW = new Date('2030-01-01T00:00:00.000Z');
const DAY = 86_400_000;

describe('the keys and certificates of a cluster', () => {
  let folder: string;

  beforeEach(() => {
    folder = tempFolder('authority');
  });

  it('stay unchanged while they are valid', async () => {
    await ensure(NOW);
    const before = contents();
    await ensure(later(300));
    expect(contents()).toEqual(before);
  });

  it('are renewed in their last month by the same authority', async () => {
    const first = await ensure(NOW);
    const second = await ensure(later(340));
    expect(second.authority).toEqual(first.authority);
    expect(expiryOf(second.admin.certPem)).toEqual(later(340 + 365));
    expect(renewalReason(second.admin, first.authority, requestAt(later(340)))).toBeUndefined();
  });

  it('are renewed after they expired', async () => {
    await ensure(NOW);
    const { admin } = await ensure(later(800));
    expect(+expiryOf(admin.certPem)).toBeGreaterThan(+later(800));
  });

  it('are renewed with additional names', async () => {
    await ensure(NOW);
    await ensure(NOW, ['hub.example.com', '192.0.2.7']);
    const server = new X509Certificate(parsePair(read('apiserver.pem'))?.certPem ?? '');
    expect(server.checkHost('hub.example.com')).toBe('hub.example.com');
    expect(server.checkIP('192.0.2.7')).toBe('192.0.2.7');
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
  });

  it.each(['apiserver.pem', 'admin.pem', 'sync.pem', 'ca.crt', 'sa.key'])(
    'are complete again after %s was deleted',
    async (name) => {
      const { authority } = await ensure(NOW);
      rmSync(join(folder, name));
      const again = await ensure(NOW);
      expect(again.authority).toEqual(authority);
      expect(read(name)).toMatch(/^-----BEGIN /);
    },
  );

  it.each(['', 'not a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
    'are replaced if a file contains %j',
    async (content) => {
      await ensure(NOW);
      writeFileSync(join(folder, 'admin.pem'), content);
      const { admin, authority } = await ensure(NOW);
      expect(renewalReason(admin, authority, requestAt(NOW))).toBeUndefined();
    },
  );

  it('are replaced if certificate and key do not match', async () => {
    const { authority } = await ensure(NOW);
    const [one, other] = ['a', 'b'].map((user) => issueClientCertificate(authority, { user }, NOW));
    writeFileSync(join(folder, 'admin.pem'), `${one?.certPem}${other?.keyPem}`);
    expect((await ensure(NOW)).admin.certPem).not.toBe(one?.certPem);
  });

  it('are not readable by other users, except for ca.crt', async () => {
    await ensure(NOW);
    const open = readdirSync(folder).filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0);
    expect(open).toEqual(['ca.crt']);
  });

  it('identify sync as a ServiceAccount, not as an administrator', async () => {
    const { sync } = await ensure(NOW);
    expect(new X509Certificate(sync.certPem).subject.split('\n')).toEqual([
      'O=system:serviceaccounts',
      'O=system:serviceaccounts:kubenode-system',
      'CN=system:serviceaccount:kubenode-system:kubenode-sync',
    ]);
  });

  it('of etcd allow server and client use, and share one authority', async () => {
    const etcd = await ensureEtcdPki(folder, lifeOf(undefined, NOW));
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

function requestAt(now: Date): CertificateRequest {
  return clientRequest(ADMIN, lifeOf(undefined, now));
}

function later(days: number): Date {
  return new Date(+NOW + days * DAY);
}

function expiryOf(certPem: string): Date {
  return new X509Certificate(certPem).validToDate;
}
