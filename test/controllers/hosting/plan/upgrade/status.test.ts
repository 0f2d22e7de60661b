import { describe, expect, it } from 'vitest';
import type { HostingAct, Upgrade } from '../../../../../src/controllers/hosting/plan/input.ts';
import { upgradeStatus } from '../../../../../src/controllers/hosting/plan/upgrade/status.ts';
import { NOW } from '../../../../support/builders.ts';
import { OLD_VERSION, settledPlane, VERSION } from '../../../../support/hosting/objects.ts';
import { type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

const UPGRADE: Upgrade = { from: OLD_VERSION, to: VERSION, digest: 'd', step: 'Soak' };
const AT = NOW.toISOString().replace('.000', '');

function finish(result: 'Completed' | 'RolledBack', upgrade: Partial<Upgrade> = {}): HostingAct {
  return { type: 'FinishUpgrade', upgrade: { ...UPGRADE, ...upgrade }, result, because: 'x' };
}

function status(parts: UpgradeParts = {}, act?: HostingAct): ReturnType<typeof upgradeStatus> {
  return upgradeStatus(upgradeInput(parts), act);
}

function completed(from: string, to: string): object {
  return { history: [{ from, to, at: AT, result: 'Completed' }] };
}

describe('the status of a change', () => {
  it('has the step that is recorded, and keeps the one before otherwise', () => {
    const act = { type: 'RecordStep', upgrade: UPGRADE, because: 'x' } as const;
    expect(status({}, act)).toEqual({
      upgrade: UPGRADE,
      rollbackPossible: true,
      rollbackVersion: OLD_VERSION,
    });
    expect(status({ step: 'Etcd' }).upgrade?.step).toBe('Etcd');
  });

  it('HOS-11 names the version that can be returned to until the point of no return', () => {
    expect(status({ step: 'Soak' })).toMatchObject({ rollbackPossible: true, rollbackVersion: OLD_VERSION });
    const settled = { ...settledPlane(OLD_VERSION), etcdVersion: 'v3.5.21' };
    const ahead = status({ step: 'Soak', runs: { etcd: 'new' }, plane: { settled } });
    expect([ahead.rollbackPossible, ahead.rollbackVersion]).toEqual([false, undefined]);
    expect(status({ step: 'PointOfNoReturn' }).rollbackPossible).toBe(false);
    expect(status({ step: 'PointOfNoReturn' }).rollbackVersion).toBeUndefined();
    expect(status({ settled: 'new', status: completed(OLD_VERSION, VERSION) }).rollbackPossible).toBe(false);
    expect(status({ settled: 'new', status: completed('v1.36.1', VERSION) })).toMatchObject({
      rollbackPossible: true,
      rollbackVersion: 'v1.36.1',
    });
    expect(status({ settled: 'new', status: completed(VERSION, VERSION) }).rollbackPossible).toBe(false);
    expect(status({ plane: { settled: undefined } })).toEqual({});
  });

  it('keeps the last ten changes, newest first', () => {
    const history = Array.from({ length: 10 }, (_, index) => ({ to: `v1.30.${index}` }));
    const after = status({ step: 'PointOfNoReturn', status: { history } }, finish('Completed'));
    expect(after.history).toHaveLength(10);
    expect(after.history?.[0]).toEqual({ from: OLD_VERSION, to: VERSION, at: AT, result: 'Completed' });
    expect(after.history?.at(-1)?.to).toBe('v1.30.8');
    expect(after.upgrade).toBeUndefined();
  });

  it('HOS-12 remembers what failed, and not what a person took back', () => {
    const message = 'kube-apiserver ended';
    const failed = status({ hosted: { retryToken: 'a' } }, finish('RolledBack', { message }));
    expect(failed.rolledBack).toEqual({ version: VERSION, digest: 'd', retryToken: 'a', message, at: AT });
    expect(status({}, finish('RolledBack')).rolledBack).toBeUndefined();
  });
});
