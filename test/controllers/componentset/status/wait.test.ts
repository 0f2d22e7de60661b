import { describe, expect, it } from 'vitest';
import { ago, NOW } from '../../../support/builders.ts';
import { member } from '../rollout/rollout-input.ts';
import { BUDGET_WAIT, draining } from './draining.ts';
import { denied, read, statusOf } from './set-report.ts';

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
    const status = statusOf({ members: [draining('a', BUDGET_WAIT)] });
    const { reason, blocker, message } = BUDGET_WAIT;
    expect(status.waiting).toMatchObject({ reason, blocker, message: `a: ${message}` });
    expect(read(status, 'Progressing')).toBe('True PodDisruptionBudget');
  });
});
