import { describe, expect, it } from 'vitest';
import { DENIAL_GROUPS, DENY_REASONS } from '../../src/api/deny-reasons.ts';

describe('DENY_REASONS', () => {
  it('lists each reason once', () => {
    expect(DENIAL_GROUPS.flatMap(({ reasons }) => Object.keys(reasons))).toEqual(DENY_REASONS);
    expect(DENY_REASONS).toHaveLength(67);
  });

  it('orders groups by precedence: a stop by a person first, a pending approval last', () => {
    expect(DENIAL_GROUPS.map(({ title }) => title)).toEqual([
      'Stopped by people',
      'The Defender cannot decide',
      'The Defender doubts its own view',
      'The control plane',
      'Whole areas',
      'Time',
      'Blockers',
      'This machine',
      'Budgets',
      'Capacity',
      'Answers of people',
    ]);
    expect([DENY_REASONS[0], DENY_REASONS.at(-1)]).toEqual(['KillSwitch', 'ApprovalTimedOut']);
  });

  it('uses codes that fit a status reason', () => {
    expect(DENY_REASONS.filter((reason) => !/^[A-Z][A-Za-z]{0,63}$/.test(reason))).toEqual([]);
  });

  it('fits into `status.denials` of a DefenderPolicy, which holds 80 entries', () => {
    expect(DENY_REASONS.length).toBeLessThanOrEqual(80);
  });
});
