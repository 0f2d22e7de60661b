import { describe, expect, it } from 'vitest';
import { readSecret } from '../../../../src/api/secrets/read.ts';
import {
  createAccessSecret,
  formatSyncKubeconfig,
  isLoopback,
} from '../../../../src/cli/commands/cluster/sync-kubeconfig.ts';
import { readKubeconfig } from '../../../../src/kube/auth/kubeconfig.ts';

const ACCESS = { cluster: 'prod', server: 'https://10.0.0.7:6443', caPem: 'ca: "\n', token: 'a.b.c' };

describe('formatSyncKubeconfig', () => {
  it('is one that sync reads from a Secret, where files and programs are refused', () => {
    const config = readKubeconfig(formatSyncKubeconfig(ACCESS), { origin: 'x', trusted: false });
    expect(config.currentContext).toBe('prod');
    expect(config.contexts).toMatchObject([{ name: 'prod', cluster: 'prod', user: 'kubenode-sync' }]);
    expect(config.clusters).toMatchObject([
      { server: ACCESS.server, caData: Buffer.from(ACCESS.caPem).toString('base64') },
    ]);
    expect(config.users).toMatchObject([{ entry: { name: 'kubenode-sync', token: 'a.b.c' } }]);
  });
});

describe('createAccessSecret', () => {
  it('permits its use as a kubeconfig, and no other', () => {
    const secret = createAccessSecret(ACCESS);
    expect(secret.metadata).toMatchObject({ name: 'prod-kubeconfig', namespace: 'kubenode-system' });
    const read = (use: 'kubeconfig' | 'git'): string =>
      readSecret(
        { get: () => secret },
        { name: 'prod-kubeconfig', key: 'kubeconfig', use, user: 'Cluster prod' },
        'nowhere',
      );
    expect(read('kubeconfig')).toBe(formatSyncKubeconfig(ACCESS));
    expect(() => read('git')).toThrow('kubenode.dev/secret-use');
  });
});

describe('isLoopback', () => {
  it.each<[string, boolean]>([
    ['https://127.0.0.1:6443', true],
    ['https://127.1.2.3', true],
    ['https://localhost:6443', true],
    ['https://[::1]:6443', true],
    ['https://10.0.0.7:6443', false],
    ['https://localhost.example.com', false],
    ['https://128.0.0.1', false],
  ])('%s: %s', (server, expected) => {
    expect(isLoopback(server)).toBe(expected);
  });
});
