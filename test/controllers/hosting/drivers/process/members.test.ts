import { describe, expect, it } from 'vitest';
import { ETCD_MEMBERS, type MemberRun } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import { memberSpecs } from '../../../../../src/controllers/hosting/drivers/process/members.ts';
import type { Programs } from '../../../../../src/controllers/hosting/drivers/process/programs.ts';
import { memberRuns } from '../../../../../src/controllers/hosting/drivers/runs.ts';
import { createLayout } from '../../../../../src/local/layout.ts';
import { settledWith } from '../../../../support/hosting/etcd.ts';
import { ETCD_VERSION, OLD_ETCD_VERSION, OLD_VERSION, VERSION } from '../../../../support/hosting/objects.ts';

const SETTLED = settledWith();
const OLD_ETCD: MemberRun = { version: OLD_ETCD_VERSION, flags: { 'quota-backend-bytes': '67108864' } };

function programs(version: string, etcdVersion: string): Programs {
  return { version, etcdVersion, path: (name) => `/${version}/${name}` };
}

function specs(runs = memberRuns(SETTLED)): ReturnType<typeof memberSpecs> {
  const cluster = {
    name: 'ci',
    port: 1,
    controllerManagerPort: 2,
    schedulerPort: 3,
    bindAddress: '127.0.0.1',
    names: [],
    controllers: true,
    plane: SETTLED.settings,
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

  it('recognizes each member of etcd by its folder', () => {
    const [first, second] = specs();
    expect(first?.matches(['/any/etcd', '--data-dir=/ci/etcd'])).toBe(true);
    expect(first?.matches(['/any/etcd', '--data-dir=/ci/etcd-1'])).toBe(false);
    expect(second?.matches(['/any/etcd', '--data-dir=/ci/etcd-1'])).toBe(true);
  });
});
