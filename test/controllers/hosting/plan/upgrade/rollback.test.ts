import { describe, expect, it } from 'vitest';
import { planPlaneRollback } from '../../../../../src/controllers/hosting/plan/upgrade/rollback.ts';
import { decisionText, OLD_VERSION, settledPlane, VERSION } from '../../../../support/hosting/objects.ts';
import { type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

const UPGRADE = { from: OLD_VERSION, to: VERSION, step: 'RollingBack' };
const STARTING = { state: 'Starting' } as const;
const ALL = {
  etcd: 'new',
  'kube-apiserver': 'emulating',
  'kube-controller-manager': 'emulating',
  'kube-scheduler': 'emulating',
} as const;

function plan(parts: UpgradeParts): string {
  const decision = planPlaneRollback(upgradeInput(parts), UPGRADE, settledPlane(OLD_VERSION));
  return decisionText(decision).replace(/: .*/, '');
}

describe('the rollback of a change', () => {
  it('HOS-11 changes managers before the API server, and etcd last', () => {
    expect(plan({ runs: ALL })).toBe('Change kube-scheduler');
    expect(plan({ runs: { ...ALL, 'kube-scheduler': 'old' } })).toBe('Change kube-controller-manager');
    expect(plan({ runs: { etcd: 'new', 'kube-apiserver': 'emulating' } })).toBe('Change kube-apiserver');
    expect(plan({ runs: { etcd: 'new' } })).toBe('Change etcd');
    expect(plan({})).toBe('FinishUpgrade');
  });

  it('HOS-11 changes no second member while the first does not answer although it could', () => {
    const runs = { etcd: 'new', 'kube-apiserver': 'emulating' } as const;
    expect(plan({ runs, but: { 'kube-scheduler': STARTING } })).toBe('wait MemberStarting');
    expect(plan({ runs: { etcd: 'new' }, but: { 'kube-apiserver': STARTING } })).toBe('wait MemberStarting');
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
});
