import { describe, expect, it } from 'vitest';
import { balancerCommand } from '../../../../../src/cli/hosting/programs.ts';
import { ETCD_MEMBERS, type MemberRun } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import { memberSpecs } from '../../../../../src/controllers/hosting/drivers/process/members.ts';
import type { Programs } from '../../../../../src/controllers/hosting/drivers/process/programs.ts';
import { memberRuns } from '../../../../../src/controllers/hosting/drivers/runs.ts';
import { createLayout } from '../../../../../src/local/layout.ts';
import type { ApiServersState } from '../../../../../src/local/state.ts';
import { settledWith } from '../../../../support/hosting/etcd.ts';
import { ETCD_VERSION, OLD_ETCD_VERSION, OLD_VERSION, VERSION } from '../../../../support/hosting/objects.ts';

const SETTLED = settledWith();
const OLD_ETCD: MemberRun = { version: OLD_ETCD_VERSION, flags: { 'quota-backend-bytes': '67108864' } };

function programs(version: string, etcdVersion: string): Programs {
  return { version, etcdVersion, path: (name) => `/${version}/${name}` };
}

const SERVERS = { replicas: 2, ports: [21, 22, 23], balancerPorts: [31, 32] };
const KEY = '--kubelet-client-key=/ci/clusters/ci/pki/kubelet-client.pem';

function server(port: number): readonly string[] {
  return ['/any/kube-apiserver', `--secure-port=${port}`, KEY];
}

function specs(runs = memberRuns(SETTLED), apiServers?: ApiServersState): ReturnType<typeof memberSpecs> {
  const cluster = {
    name: 'ci',
    port: 1,
    controllerManagerPort: 2,
    schedulerPort: 3,
    bindAddress: '127.0.0.1',
    names: [],
    controllers: true,
    plane: SETTLED.settings,
    ...(apiServers ? { apiServers } : {}),
  };
  return memberSpecs('ci', {
    state: {
      version: 1,
      etcdPort: 11,
      etcdMembers: [11, 12, 13].map((port) => ({ port, peerPort: port + 10 })),
      clusters: [cluster],
    },
    layout: createLayout('/ci'),
    runs,
    programs: [programs(OLD_VERSION, OLD_ETCD_VERSION), programs(VERSION, ETCD_VERSION)],
    controllersPort: 9,
    controllers: () => ({ program: 'kubenode', args: [] }),
    balancer: balancerCommand,
  });
}

describe('the members of a control plane as processes', () => {
  it('HOS-30 lists each member of etcd with a port and a log of its own, before what needs it', () => {
    expect(specs().map(({ member, port }) => `${member} ${port}`)).toEqual([
      'etcd 11',
      'etcd-1 12',
      'etcd-2 13',
      'kube-apiserver 1',
      'kube-controller-manager 2',
      'kube-scheduler 3',
      'kubenode-controllers 9',
    ]);
    expect(new Set(specs().map(({ logFile }) => logFile)).size).toBe(7);
  });

  it('HOS-30 starts each member of etcd with its own version and flags while a change goes from one to the next', () => {
    const found = specs({ ...memberRuns(SETTLED), 'etcd-1': OLD_ETCD });
    const etcd = found.filter(({ member }) => ETCD_MEMBERS.some((each) => each === member));
    const quotas = etcd.map(({ command }) => command.args.find((arg) => arg.startsWith('--quota')));
    expect(etcd.map(({ command }) => command.program)).toEqual([
      `/${VERSION}/etcd`,
      `/${OLD_VERSION}/etcd`,
      `/${VERSION}/etcd`,
    ]);
    expect(quotas).toEqual([
      '--quota-backend-bytes=2147483648',
      '--quota-backend-bytes=67108864',
      '--quota-backend-bytes=2147483648',
    ]);
  });

  it('HOS-13 gives each of several API servers a port, a log and a run of its own, and the balancers the port of clients', () => {
    const old: MemberRun = { version: OLD_VERSION, flags: { v: '3' } };
    const found = specs({ ...memberRuns(SETTLED), 'kube-apiserver-1': old }, SERVERS);
    expect(found.slice(3, 7).map(({ member, port, logFile }) => `${member} ${port} ${logFile}`)).toEqual([
      'kubenode-balancer 31 /ci/logs/kubenode-balancer.log',
      'kubenode-balancer-1 32 /ci/logs/kubenode-balancer-1.log',
      'kube-apiserver 21 /ci/logs/ci-kube-apiserver.log',
      'kube-apiserver-1 22 /ci/logs/ci-kube-apiserver-1.log',
    ]);
    const [balancer, , first, second] = found.slice(3, 7).map(({ command }) => command);
    expect(balancer?.args.slice(-4)).toEqual([
      '--port=1',
      '--health-port=31',
      '--backends=21,22,23',
      '--ca-file=/ci/clusters/ci/pki/ca.crt',
    ]);
    expect([first?.program, second?.program]).toEqual([
      `/${VERSION}/kube-apiserver`,
      `/${OLD_VERSION}/kube-apiserver`,
    ]);
    expect(first?.args).toEqual(expect.arrayContaining(['--secure-port=21', '--shutdown-delay-duration=2s']));
    expect(second?.args.slice(-2)).toEqual(['--shutdown-watch-termination-grace-period=1s', '--v=3']);
  });

  it('HOS-13 recognizes each API server by its port, and the first one also by the port of clients', () => {
    const [, , , balancer, , first, second] = specs(memberRuns(SETTLED), SERVERS);
    const matches = [21, 22, 1].map((port) => [first, second].map((spec) => spec?.matches(server(port))));
    expect(matches).toEqual([
      [true, false],
      [false, true],
      [true, false],
    ]);
    expect([21, 1].map((port) => first?.isDirect?.(server(port)))).toEqual([false, true]);
    expect(balancer?.matches(['node', '--health-port=31', '--ca-file=/ci/clusters/ci/pki/ca.crt'])).toBe(
      true,
    );
    expect(balancer?.matches(['node', '--health-port=32', '--ca-file=/ci/clusters/ci/pki/ca.crt'])).toBe(
      false,
    );
    expect(specs().find(({ member }) => member === 'kube-apiserver')?.isDirect).toBeUndefined();
  });

  it('recognizes each member of etcd by its folder', () => {
    const [first, second] = specs();
    expect(first?.matches(['/any/etcd', '--data-dir=/ci/etcd'])).toBe(true);
    expect(first?.matches(['/any/etcd', '--data-dir=/ci/etcd-1'])).toBe(false);
    expect(second?.matches(['/any/etcd', '--data-dir=/ci/etcd-1'])).toBe(true);
  });
});
