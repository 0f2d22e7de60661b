import { describe, expect, it } from 'vitest';
import { ETCD_MEMBERS } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import {
  etcdStays,
  planPlaneRollback,
} from '../../../../../src/controllers/hosting/plan/upgrade/rollback.ts';
import { severalMembers } from '../../../../support/hosting/etcd.ts';
import { decisionText, OLD_VERSION, settledPlane, VERSION } from '../../../../support/hosting/objects.ts';
import { RUNS, type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

const UPGRADE = { from: OLD_VERSION, to: VERSION, step: 'RollingBack' };
const STARTING = { state: 'Starting' } as const;
const ALL = {
  etcd: 'new',
  'kube-apiserver': 'emulating',
  'kube-controller-manager': 'emulating',
  'kube-scheduler': 'emulating',
} as const;

const OTHERS = {
  'kube-apiserver': { run: RUNS.old['kube-apiserver'] },
  'kube-controller-manager': { run: RUNS.old['kube-controller-manager'] },
  'kube-scheduler': { run: RUNS.old['kube-scheduler'] },
};

function plan(parts: UpgradeParts): string {
  const decision = planPlaneRollback(upgradeInput(parts), UPGRADE, settledPlane(OLD_VERSION));
  return decisionText(decision).replace(/: .*/, '');
}

type Plane = NonNullable<UpgradeParts['plane']>;

function etcd(...names: readonly ('old' | 'new')[]): Plane {
  const but = Object.fromEntries(
    names.map((name, index) => [ETCD_MEMBERS[index] ?? '', { run: RUNS[name].etcd }]),
  );
  return severalMembers({ but: { ...but, ...OTHERS } });
}

function down(plane: Plane, member: string): Plane {
  return {
    ...plane,
    members: (plane.members ?? []).map((each) => (each.member === member ? { ...each, ...STARTING } : each)),
  };
}

describe('the rollback of a change', () => {
  it('HOS-11 changes managers before the API server, and etcd last', () => {
    expect(plan({ runs: ALL })).toBe('Change kube-scheduler');
    expect(plan({ runs: { ...ALL, 'kube-scheduler': 'old' } })).toBe('Change kube-controller-manager');
    expect(plan({ runs: { etcd: 'new', 'kube-apiserver': 'emulating' } })).toBe('Change kube-apiserver');
    expect(plan({ runs: { etcd: 'new' } })).toBe('Change etcd');
    expect(plan({})).toBe('FinishUpgrade');
  });

  it('HOS-12 ends when every member is what it was, also where no API server could be asked before the change', () => {
    const unreachable = { canary: { problem: 'kube-apiserver: connect ETIMEDOUT' } };
    expect(plan({ input: unreachable })).toBe('FinishUpgrade');
    expect(plan({ input: { canary: undefined } })).toBe('FinishUpgrade');
    expect(plan({ input: unreachable, runs: { etcd: 'new' } })).toBe('Change etcd');
    expect(plan({ input: unreachable, but: { etcd: STARTING } })).toBe('wait MemberStarting');
  });

  it('HOS-11 changes no second member while the first does not answer although it could', () => {
    const runs = { etcd: 'new', 'kube-apiserver': 'emulating' } as const;
    expect(plan({ runs, but: { 'kube-scheduler': STARTING } })).toBe('wait MemberStarting');
    expect(plan({ runs: { etcd: 'new' }, but: { 'kube-apiserver': STARTING } })).toBe('wait MemberStarting');
  });

  it('HOS-30 changes the member of etcd back first that does not answer, and then one after the other', () => {
    expect(plan({ plane: down(etcd('new', 'new', 'old'), 'etcd-1') })).toBe('Change etcd-1');
    expect(plan({ plane: down(etcd('new', 'old', 'old'), 'etcd-1') })).toBe('wait MemberStarting');
    expect(plan({ plane: etcd('new', 'old', 'old') })).toBe('Change etcd');
    expect(plan({ plane: etcd('old', 'old', 'new') })).toBe('Change etcd-2');
  });

  it('HOS-12 reaches the member that has failed, whatever waits for it', () => {
    const but = {
      'kube-apiserver': STARTING,
      'kube-controller-manager': STARTING,
      'kube-scheduler': STARTING,
    };
    expect(plan({ runs: { etcd: 'new', 'kube-apiserver': 'emulating' }, but })).toBe('Change kube-apiserver');
    expect(plan({ runs: { etcd: 'new' }, but: { ...but, etcd: STARTING } })).toBe('Change etcd');
  });

  it('HOS-11 offers a restore by hand for an etcd with one member, and none for several', () => {
    const settled = { ...settledPlane(OLD_VERSION), etcdVersion: 'v3.5.21' };
    const messageFor = (parts: UpgradeParts): string =>
      etcdStays(upgradeInput(parts), UPGRADE, settled)?.wait?.message ?? '';
    expect(messageFor({ runs: ALL })).toMatch(/or restore .*snapshots\/upgrade by hand$/);
    const several = messageFor({ plane: etcd('new', 'old', 'old') });
    expect(several).toMatch(/or create another Cluster: .* not restored into an etcd with several members$/);
    expect(several).not.toContain('by hand');
  });
});
