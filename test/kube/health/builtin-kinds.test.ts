import { describe, expect, it } from 'vitest';
import { settlementOf } from '../../../src/sync/health/health.ts';
import { BUILTIN_KINDS } from '../../sync/health/builtin-kinds-table.ts';

describe('health of built-in and third-party kinds', () => {
  it.each(BUILTIN_KINDS)('is $answer when $name', ({ objects, answer, reason, because }) => {
    const settlement = settlementOf(objects);
    expect([settlement.answer, settlement.because]).toEqual([answer, because]);
    expect(settlement.answer === 'Settled' ? undefined : settlement.reason).toBe(reason);
  });
});
