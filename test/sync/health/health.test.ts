import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settlementOf } from '../../../src/sync/health/health.ts';
import { BUILTIN_KINDS } from './builtin-kinds-table.ts';
import { KUBENODE_KINDS } from './kubenode-kinds-table.ts';

describe('settlementOf', () => {
  it('is Unknown while the view is stale, whatever was observed before', () => {
    for (const { objects } of KUBENODE_KINDS) {
      expect(settlementOf(objects, 'no answer for 70 s')).toEqual({
        answer: 'Unknown',
        reason: 'ViewLost',
        because: 'no answer for 70 s',
      });
    }
  });

  it('names the first object that blocks, and since when', () => {
    const [, , row] = KUBENODE_KINDS;
    expect(settlementOf(row?.objects ?? [])).toMatchObject({
      blocker: { kind: 'Machine', name: 'a' },
      since: new Date('2030-01-01T00:00:00Z'),
      hasDeadline: true,
    });
  });

  it('is Settled only if every object is healthy, and Failed if any object failed', () => {
    const all = [...KUBENODE_KINDS, ...BUILTIN_KINDS].filter(({ objects }) => objects.length === 1);
    const some = fc.array(fc.constantFrom(...all), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(some, (rows) => {
        const { answer } = settlementOf(rows.flatMap(({ objects }) => objects));
        expect(answer === 'Settled').toBe(rows.every((row) => row.answer === 'Settled'));
        expect(answer === 'Failed').toBe(rows.some((row) => row.answer === 'Failed'));
      }),
    );
  });
});
