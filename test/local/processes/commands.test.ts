import { describe, expect, it } from 'vitest';
import {
  createApiServerCommand,
  createEtcdCommand,
  type EtcdFlags,
} from '../../../src/local/processes/commands.ts';

const FLAGS: EtcdFlags = { dataFolder: '/data', pkiFolder: '/pki', port: 2001, durable: true };

function args(more: Partial<EtcdFlags> = {}): readonly string[] {
  return createEtcdCommand((name) => `/bin/${name}`, { ...FLAGS, ...more }).args;
}

describe('the command of etcd', () => {
  it('has no peers and short elections with one member', () => {
    expect(args()).toEqual(
      expect.arrayContaining([
        '--name=local',
        '--listen-peer-urls=https://127.0.0.1:0',
        '--election-timeout=500',
        `--quota-backend-bytes=${8192 * 1024 ** 2}`,
      ]),
    );
    expect(args().filter((arg) => /initial|unsafe|force/.test(arg))).toEqual([]);
  });

  it('HOS-33 never begins an etcd of its own with several members, and accepts only members as peers', () => {
    const found = args({ peer: { name: 'etcd-1', port: 3002 } });
    expect(found).toEqual(
      expect.arrayContaining([
        '--name=etcd-1',
        '--listen-peer-urls=https://127.0.0.1:3002',
        '--initial-advertise-peer-urls=https://127.0.0.1:3002',
        '--initial-cluster-state=existing',
        '--peer-cert-allowed-cn=etcd',
        '--peer-client-cert-auth',
      ]),
    );
    expect(found.filter((arg) => arg.startsWith('--election'))).toEqual([]);
  });

  it('risks its data only in tests and on copies, and forgets other members only on copies', () => {
    expect(args({ durable: false })).toContain('--unsafe-no-fsync');
    expect(args({ alone: true })).toContain('--force-new-cluster');
  });
});

describe('the command of an API server', () => {
  it('reaches kubelets by the address of their Node first, because its name need not resolve', () => {
    const { args: found } = createApiServerCommand((name) => `/bin/${name}`, {
      pkiFolder: '/pki',
      etcdPkiFolder: '/etcd',
      port: 6443,
      bindAddress: '127.0.0.1',
      etcdUrls: ['https://127.0.0.1:2379'],
      etcdPrefix: '/ci',
    });
    expect(found).toContain('--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname');
  });
});
