import { describe, expect, it } from 'vitest';
import { settlementOf } from '../../../src/sync/health/health.ts';
import { KUBENODE_KINDS } from './kubenode-kinds-table.ts';

describe('health of kubenode kinds', () => {
  it.each(KUBENODE_KINDS)('is $answer when $name', ({ objects, answer, reason, because }) => {
    const settlement = settlementOf(objects);
    expect([settlement.answer, settlement.because]).toEqual([answer, because]);
    expect(settlement.answer === 'Settled' ? undefined : settlement.reason).toBe(reason);
  });
});
