import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { machineIdentity, serverForHosts } from '../../../../src/cli/commands/import/cluster.ts';

describe('serverForHosts', () => {
  it.each([
    'http://127.0.0.1:8001',
    'https://127.0.0.1:6443',
    'https://127.1.2.3',
    'https://localhost:6443',
    'https://[::1]:6443',
  ])('is none for %s, which no host reaches', (url) => {
    expect(serverForHosts(url)).toBeUndefined();
  });

  it('refuses a server without TLS, which no agent can use', () => {
    expect(() => serverForHosts('http://10.0.0.1:8080')).toThrow(
      expect.objectContaining({
        message: 'hosts cannot use this API server: agents connect by https:// only',
        where: 'http://10.0.0.1:8080',
        exitCode: 65,
      }) as Error,
    );
  });

  it('is the address of any other server', () => {
    expect(serverForHosts('https://10.0.0.1:6443')).toEqual({ host: '10.0.0.1', port: 6443 });
  });
});

describe('machineIdentity', () => {
  it('MAC-21 has what tells that a host is this Machine', () => {
    const hostKeys = [{ algorithm: 'ssh-ed25519', fingerprint: 'SHA256:x' }];
    const machine = {
      metadata: { name: 'n1' },
      spec: { import: { address: '10.0.0.1', port: 2022, hostKeys } },
      status: { system: { machineID: 'm1' } },
    } as unknown as Machine;
    expect(machineIdentity(machine)).toEqual({
      label: 'Machine n1',
      hostName: 'n1',
      address: '10.0.0.1',
      port: 2022,
      machineId: 'm1',
      hostKeys,
    });
    const joined = { metadata: { name: 'n2' }, spec: {} } as unknown as Machine;
    expect(machineIdentity(joined)).toEqual({ label: 'Machine n2', hostName: 'n2', hostKeys: [] });
  });
});
