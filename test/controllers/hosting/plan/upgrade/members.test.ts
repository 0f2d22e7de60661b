import { describe, expect, it } from 'vitest';
import {
  differs,
  gateWait,
  planChange,
} from '../../../../../src/controllers/hosting/plan/upgrade/members.ts';
import { decisionText, upkeepRun } from '../../../../support/hosting/objects.ts';
import { RUNS, type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

describe('the members of a control plane that is changed', () => {
  it.each<readonly [name: string, parts: UpgradeParts, expected: boolean]>([
    ['is recorded with the desired version and flags', { runs: { etcd: 'new' } }, false],
    ['is recorded with another version', {}, true],
    [
      'is recorded with it, and another process runs',
      { runs: { etcd: 'new' }, but: { etcd: { isOutdated: true } } },
      true,
    ],
  ])('differs, or not, where etcd %s', (_, parts, expected) => {
    expect(differs(upgradeInput(parts), 'etcd', RUNS.new)).toBe(expected);
  });

  it('takes the version that runs where none was recorded', () => {
    const run = { flags: RUNS.new.etcd.flags };
    const base = upgradeInput();
    const withEtcd = (version: string | undefined): typeof base => ({
      ...base,
      plane: {
        ...base.plane,
        members: base.plane.members.map((each) =>
          each.member === 'etcd' ? { ...each, run, version } : each,
        ),
      },
    });
    expect(differs(withEtcd('v3.6.5'), 'etcd', RUNS.new)).toBe(true);
    expect(differs(withEtcd('v3.6.8'), 'etcd', RUNS.new)).toBe(false);
    expect(differs(withEtcd(undefined), 'etcd', RUNS.new)).toBe(false);
  });

  it('changes the first that differs, and none while a person halts everything', () => {
    const members = ['etcd', 'kube-apiserver'] as const;
    expect(decisionText(planChange(upgradeInput(), members, RUNS.new) ?? {})).toMatch(/^Change etcd: /);
    const halted = upgradeInput({ input: { halt: 'ops: incident' } });
    expect(decisionText(planChange(halted, members, RUNS.new) ?? {})).toBe('wait KillSwitch');
    expect(planChange(upgradeInput(), members, RUNS.old)).toBeUndefined();
  });

  it.each<readonly [name: string, parts: UpgradeParts, expected: RegExp]>([
    ['of etcd, from which a backup may read', {}, /^wait BackupRunning$/],
    ['of etcd that does not answer', { but: { etcd: { state: 'Starting' } } }, /^Change etcd: /],
    ['of the API server', { runs: { etcd: 'new' } }, /^Change kube-apiserver: /],
  ])(
    'HOS-32 changes a member while a backup is taken, or waits for its end: that %s',
    (_, parts, expected) => {
      const input = upgradeInput({ ...parts, input: { upkeep: upkeepRun('Backup') } });
      const decision = planChange(input, ['etcd', 'kube-apiserver'], RUNS.new) ?? {};
      expect(decisionText(decision)).toMatch(expected);
    },
  );

  it('HOS-32 changes a member of etcd while a backup is restored in a drill', () => {
    const drilling = upgradeInput({ input: { upkeep: upkeepRun('Drill') } });
    expect(decisionText(planChange(drilling, ['etcd'], RUNS.new) ?? {})).toMatch(/^Change etcd: /);
  });

  it.each<readonly [name: string, parts: UpgradeParts, expected: string | undefined]>([
    ['every member answers and the canary passed', {}, undefined],
    ['a member does not answer', { but: { etcd: { state: 'Starting' } } }, 'etcd does not answer yet'],
    [
      'the canary failed',
      { input: { canary: { problem: 'timeout' } } },
      'the canary of the API server (a write, a read, a watch, in a rotation a token) failed: timeout',
    ],
    [
      'the canary was not asked, which is not a pass',
      { input: { canary: undefined } },
      'the canary of the API server (a write, a read, a watch, in a rotation a token) failed: the API server was not asked yet',
    ],
  ])('HOS-10 holds the next member back unless %s', (_, parts, expected) => {
    expect(gateWait(upgradeInput(parts))?.message).toBe(expected);
  });
});
