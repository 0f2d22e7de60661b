import { describe, expect, it } from 'vitest';
import type { Upgrade } from '../../../../../src/controllers/hosting/plan/input.ts';
import { upgradeFailureReason } from '../../../../../src/controllers/hosting/plan/upgrade/failure.ts';
import { NOW } from '../../../../support/builders.ts';
import { OLD_VERSION, VERSION } from '../../../../support/hosting/objects.ts';
import { RUNS, type UpgradeParts, upgradeInput } from '../../../../support/hosting/upgrades.ts';

const API = { etcd: 'new', 'kube-apiserver': 'emulating' } as const;
const NO_CANARY = { canary: { problem: 'x' } } as const;

/** A step that began so many seconds ago. */
function reason(step: string, seconds: number, parts: UpgradeParts): string | undefined {
  const since = new Date(+NOW - seconds * 1000).toISOString();
  const upgrade: Upgrade = { from: OLD_VERSION, to: VERSION, step, since };
  return upgradeFailureReason(upgradeInput(parts), upgrade, RUNS.emulating);
}

function startedAgo(seconds: number): readonly Date[] {
  return [new Date(+NOW - seconds * 1000)];
}

describe('the failure of a change', () => {
  it('HOS-12 has failed when a gate does not hold for longer than the deadline, and not before', () => {
    expect(reason('APIServers', 900, { runs: API, input: NO_CANARY })).toBeUndefined();
    expect(reason('APIServers', 901, { runs: API, input: NO_CANARY })).toMatch(
      /^step APIServers made no progress for 900 s/,
    );
    expect(reason('APIServers', 9000, { runs: API })).toBeUndefined();
  });

  it('HOS-12 gives a member that was changed late its whole time', () => {
    const parts = { runs: API, input: NO_CANARY } as const;
    const late = { ...parts, but: { 'kube-apiserver': { starts: startedAgo(899) } } };
    expect(reason('APIServers', 9000, late)).toBeUndefined();
    const over = { ...parts, but: { 'kube-apiserver': { starts: startedAgo(901) } } };
    expect(reason('APIServers', 9000, over)).toMatch(/^step APIServers/);
  });

  it('HOS-12 never fails because a grant, a person or hosting itself is awaited', () => {
    expect(reason('APIServers', 9000, { runs: { etcd: 'new' }, input: NO_CANARY })).toBeUndefined();
    expect(reason('Snapshot', 9000, { input: NO_CANARY })).toBeUndefined();
    const stopped = { 'kube-apiserver': { state: 'Stopped', starts: [] } } as const;
    expect(reason('APIServers', 9000, { runs: API, but: stopped })).toBeUndefined();
  });

  it('HOS-12 fails when a member that was changed hangs while others still have to be changed', () => {
    const runs = { ...API, 'kube-controller-manager': 'emulating' } as const;
    const but = { 'kube-controller-manager': { state: 'Starting', starts: startedAgo(901) } } as const;
    expect(reason('Managers', 9000, { runs, but })).toMatch(/^step Managers made no progress for 900 s/);
    expect(reason('Managers', 9000, { runs, but: { etcd: but['kube-controller-manager'] } })).toBeUndefined();
  });

  it('HOS-12 fails at once when a pod that the step has changed ended three times, and not for others', () => {
    const blocker = { kind: 'Pod', name: 'kn-ci/x' };
    const ended = (ends: number): object => ({
      state: 'Starting',
      logTail: 'panic: no',
      problem: { reason: 'MemberCrashes', message: 'x', blocker, ends },
    });
    expect(reason('APIServers', 1, { runs: API, but: { 'kube-apiserver': ended(3) } })).toBe(
      'kube-apiserver ended 3 times: panic: no',
    );
    expect(reason('APIServers', 1, { runs: API, but: { 'kube-apiserver': ended(2) } })).toBeUndefined();
    expect(reason('APIServers', 1, { runs: API, but: { 'kube-scheduler': ended(9) } })).toBeUndefined();
  });

  it('HOS-12 adds the soak to the deadline of the soak', () => {
    const runs = { ...API, 'kube-controller-manager': 'emulating', 'kube-scheduler': 'emulating' } as const;
    expect(reason('Soak', 960, { runs, input: NO_CANARY })).toBeUndefined();
    expect(reason('Soak', 961, { runs, input: NO_CANARY })).toMatch(/^step Soak made no progress for 960 s/);
  });
});
