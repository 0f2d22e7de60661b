import { describe, expect, it } from 'vitest';
import { ago, machine, NOW } from '../../../support/builders.ts';
import { member } from '../rollout/rollout-input.ts';
import { denied, read, statusOf } from './set-report.ts';
import { IN_WORK } from './situations.ts';

describe('setWait', () => {
  it('ROL-12 shows policy, number and limit of a denial', () => {
    const status = statusOf({ members: [member('a'), member('b')], denials: [denied('a'), denied('b')] });
    expect(status.waiting?.message).toBe(
      'a: ConcurrencyPool: pool web: 3 machines in work, and at most 3 allowed by limit pools ' +
        '(DefenderPolicy fleet-default) (and 1 more)',
    );
  });

  it('ROL-12 dates a wait by its first time', () => {
    const since = ago(100);
    const waiting = {
      reason: 'GrantDenied',
      blocker: { kind: 'DefenderPolicy', name: 'fleet-default' },
      since,
    };
    const parts = { members: [member('a')], denials: [denied('a')] };
    expect(statusOf({ ...parts, before: { waiting } }).waiting?.since).toBe(since);
    expect(statusOf(parts).waiting?.since).toBe(NOW.toISOString());
  });

  it('ROL-52 names the budget that a drain waits for', () => {
    const blocker = { kind: 'PodDisruptionBudget', name: 'web', namespace: 'default' };
    const waiting = {
      reason: 'PodDisruptionBudget',
      blocker,
      since: ago(60),
      message: 'web permits no eviction',
    };
    const draining = machine('a', { status: { waiting } });
    const members = [member('a', { ...IN_WORK, reason: 'WaitingForDrain' })].map((each) => ({
      ...each,
      machine: draining,
    }));
    const status = statusOf({ members });
    expect(status.waiting).toMatchObject({ reason: 'PodDisruptionBudget', blocker });
    expect(read(status, 'Progressing')).toBe('True PodDisruptionBudget');
  });
});
