import { describe, expect, it } from 'vitest';
import { DENY_REASONS, DENY_REASONS_BY_GROUP } from '../../src/api/deny-reasons.ts';

describe('DENY_REASONS', () => {
  it('lists each reason once', () => {
    expect(new Set(DENY_REASONS).size).toBe(DENY_REASONS.length);
    expect(DENY_REASONS).toHaveLength(65);
  });

  it('orders groups by precedence: a stop by a person first, a pending approval last', () => {
    expect(Object.keys(DENY_REASONS_BY_GROUP)).toEqual([
      'stop',
      'cannotDecide',
      'selfDoubt',
      'controlPlane',
      'wholeAreas',
      'time',
      'blockers',
      'machine',
      'budgets',
      'capacity',
      'people',
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
