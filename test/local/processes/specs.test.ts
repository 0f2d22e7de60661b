import { describe, expect, it } from 'vitest';
import { createLayout } from '../../../src/local/layout.ts';
import { createProcessSpecs, GRACEFUL_END, matchesSpec } from '../../../src/local/processes/specs.ts';
import type { FleetState, LocalClusterState } from '../../../src/local/state.ts';

const LAYOUT = createLayout('/fleet');
const PLANE = {
  podCIDR: '10.32.0.0/16',
  serviceCIDR: '10.33.0.0/16',
  serviceDomain: 'ci.local',
  quotaMiB: 64,
  renewAtPercent: 70,
  apiServer: { v: '4' },
  controllerManager: { 'concurrent-gc-syncs': '5' },
  scheduler: { v: '2' },
};

describe('createProcessSpecs', () => {
  const specs = createProcessSpecs(state('hub', 'test'), LAYOUT, (name) => `/bin/${name}`);

  it('lists processes in the order of their dependencies', () => {
    expect(specs.map(({ id }) => id)).toEqual([
      'etcd',
      'hub/kube-apiserver',
      'test/kube-apiserver',
      'hub/kube-controller-manager',
      'hub/kube-scheduler',
      'test/kube-controller-manager',
      'test/kube-scheduler',
    ]);
  });

  it('omits controllers of clusters without them', () => {
    const { clusters, ...rest } = state('hub', 'test');
    const some = clusters.map((cluster) => ({ ...cluster, controllers: cluster.name === 'test' }));
    const ids = createProcessSpecs({ ...rest, clusters: some }, LAYOUT, (name) => name).map(({ id }) => id);
    expect(ids.slice(3)).toEqual(['test/kube-controller-manager', 'test/kube-scheduler']);
  });

  it('gives a hosted control plane its own ranges, quota and flags', () => {
    const { clusters, ...rest } = state('ci');
    const hosted = clusters.map((cluster) => ({ ...cluster, plane: PLANE }));
    const found = createProcessSpecs({ ...rest, clusters: hosted }, LAYOUT, (name) => name);
    const args = (program: string): readonly string[] =>
      found.find((spec) => spec.program === program)?.command.args ?? [];
    expect(args('etcd')).toContain('--quota-backend-bytes=67108864');
    expect(args('kube-apiserver')).toEqual(
      expect.arrayContaining(['--service-cluster-ip-range=10.33.0.0/16', '--v=4']),
    );
    expect(args('kube-controller-manager')).toEqual(
      expect.arrayContaining(['--cluster-cidr=10.32.0.0/16', '--concurrent-gc-syncs=5']),
    );
    expect(args('kube-scheduler').at(-1)).toBe('--v=2');
  });

  it('HOS-13 gives each of several API servers a port and a log, and time for its clients when it ends', () => {
    const { clusters, ...rest } = state('ci');
    const apiServers = { replicas: 2, ports: [5001, 5002, 5003], balancerPorts: [6001, 6002] };
    const several = clusters.map((cluster) => ({ ...cluster, plane: PLANE, apiServers }));
    const all = createProcessSpecs({ ...rest, clusters: several }, LAYOUT, (name) => name);
    const found = all.filter(({ program }) => program === 'kube-apiserver');
    expect(found.map(({ id, readyUrl, logFile }) => `${id} ${readyUrl} ${logFile}`)).toEqual([
      'ci/kube-apiserver https://127.0.0.1:5001/readyz /fleet/logs/ci-kube-apiserver.log',
      'ci/kube-apiserver-1 https://127.0.0.1:5002/readyz /fleet/logs/ci-kube-apiserver-1.log',
    ]);
    for (const { command } of found) expect(command.args.slice(-3, -1)).toEqual(GRACEFUL_END);
    expect(specs.some(({ command }) => command.args.some((arg) => GRACEFUL_END.includes(arg)))).toBe(false);
  });

  it('HOS-30 gives each of several members of etcd its own folder, ports and name, and the API server all of them', () => {
    const etcdMembers = [1, 2, 3].map((each) => ({ port: 2000 + each, peerPort: 3000 + each }));
    const found = createProcessSpecs({ ...state('ci'), etcdMembers }, LAYOUT, (name) => name);
    const etcd = found.filter(({ program }) => program === 'etcd');
    expect(etcd.map(({ id, port, mark }) => `${id} ${port} ${mark}`)).toEqual([
      'etcd 2001 --data-dir=/fleet/etcd',
      'etcd-1 2002 --data-dir=/fleet/etcd-1',
      'etcd-2 2003 --data-dir=/fleet/etcd-2',
    ]);
    expect(etcd[1]?.command.args).toEqual(
      expect.arrayContaining([
        '--name=etcd-1',
        '--listen-peer-urls=https://127.0.0.1:3002',
        '--initial-advertise-peer-urls=https://127.0.0.1:3002',
        '--initial-cluster-state=existing',
        '--peer-client-cert-auth',
        '--peer-cert-allowed-cn=etcd',
      ]),
    );
    const servers = 'https://127.0.0.1:2001,https://127.0.0.1:2002,https://127.0.0.1:2003';
    const api = found.find(({ program }) => program === 'kube-apiserver');
    expect(api?.command.args).toContain(`--etcd-servers=${servers}`);
  });

  it('creates marks that are unique among all commands', () => {
    for (const { mark } of specs) {
      expect(specs.filter(({ command }) => command.args.includes(mark))).toHaveLength(1);
    }
  });

  it('separates the clusters in etcd by prefix', () => {
    const prefixes = specs.flatMap(({ command }) =>
      command.args.filter((argument) => argument.startsWith('--etcd-prefix=')),
    );
    expect(prefixes).toEqual(['--etcd-prefix=/hub', '--etcd-prefix=/test']);
  });

  it('listens on loopback only by default', () => {
    const listens = specs.flatMap(({ command }) =>
      command.args.filter((argument) => /bind-address|listen-.*urls/.test(argument)),
    );
    expect(listens.length).toBeGreaterThan(7);
    expect(listens.filter((argument) => !argument.includes('127.0.0.1'))).toEqual([]);
  });

  it('requires client certificates for etcd, also from peers', () => {
    const etcd = specs[0]?.command.args ?? [];
    expect(etcd).toEqual(expect.arrayContaining(['--client-cert-auth', '--peer-client-cert-auth']));
    expect(etcd.filter((argument) => argument.includes('http://'))).toEqual([]);
  });
});

describe('matchesSpec', () => {
  const spec = { program: 'etcd', mark: '--data-dir=/fleet/etcd' } as const;

  it.each([
    ['etcd of this fleet', ['/any/where/etcd', '--name=x', '--data-dir=/fleet/etcd'], true],
    ['etcd of another fleet', ['/bin/etcd', '--data-dir=/fleet/etcd2'], false],
    ['an editor', ['/bin/vi', '--data-dir=/fleet/etcd'], false],
    ['a shell that mentions it', ['/bin/sh', '-c', 'etcd --data-dir=/fleet/etcd'], false],
    ['no command', [], false],
  ])('decides for %s', (_, command, expected) => {
    expect(matchesSpec(command, spec)).toBe(expected);
  });
});

function state(...names: string[]): FleetState {
  return { version: 1, etcdPort: 1, clusters: names.map(clusterAt) };
}

function clusterAt(name: string, index: number): LocalClusterState {
  const port = 10 * (index + 1);
  const ports = { port, controllerManagerPort: port + 1, schedulerPort: port + 2 };
  return { name, ...ports, bindAddress: '127.0.0.1', names: [], controllers: true };
}
