import { describe, expect, it } from 'vitest';
import { clusterLeaves, etcdLeaves } from '../../../src/local/pki/leaves.ts';

const NOW = new Date('2030-01-01T00:00:00.000Z');
const PLANE = {
  podCIDR: '10.244.0.0/16',
  serviceCIDR: '10.33.0.0/16',
  serviceDomain: 'ci.local',
  quotaMiB: 64,
  renewAtPercent: 50,
  leafLifetimeSeconds: 3600,
  apiServer: {},
  controllerManager: {},
  scheduler: {},
};
const CLUSTER = { folder: '/pki', name: 'ci', names: ['ci.example.com'], now: NOW };

describe('the certificates that the CAs of a control plane sign', () => {
  it('HOS-20 are signed by the CA of etcd, of the cluster, or of the front proxy', () => {
    const leaves = [
      ...etcdLeaves('/etcd', { now: NOW, seconds: 3600 }),
      ...clusterLeaves({ ...CLUSTER, plane: PLANE }),
    ];
    expect(
      leaves.map(({ name, path, folder, authority }) => `${name} ${path} by ${folder}/${authority}`),
    ).toEqual([
      'etcd /etcd/etcd.pem by /etcd/ca',
      'etcd-client /etcd/client.pem by /etcd/ca',
      'apiserver /pki/apiserver.pem by /pki/ca',
      'kubelet-client /pki/kubelet-client.pem by /pki/ca',
      'controller-manager /pki/controller-manager.pem by /pki/ca',
      'scheduler /pki/scheduler.pem by /pki/ca',
      'sync /pki/sync.pem by /pki/ca',
      'admin /pki/admin.pem by /pki/ca',
      'controllers /pki/controllers.pem by /pki/ca',
      'front-proxy /pki/front-proxy.pem by /pki/front-proxy-ca',
    ]);
  });

  it('of a local cluster have no front proxy, and the life of a year', () => {
    const leaves = clusterLeaves(CLUSTER);
    expect(leaves.map(({ name }) => name)).not.toContain('front-proxy');
    expect(leaves.map(({ request }) => request.seconds)).toEqual(Array.from({ length: 6 }, () => 31_536_000));
  });

  it('have the names and the life that the settings choose', () => {
    const [server, client] = clusterLeaves({ ...CLUSTER, plane: PLANE });
    expect(server?.request.names).toEqual(
      expect.arrayContaining(['ci.example.com', '10.33.0.1', 'kubernetes.default.svc.ci.local', '127.0.0.1']),
    );
    expect(client?.request).toMatchObject({ seconds: 3600, renewAtPercent: 50, usage: 'client' });
  });
});
