import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settlementOf } from '../../../src/sync/health/health.ts';
import { OUR_KINDS, PLAIN_KINDS } from '../promote/health-fixtures.ts';

describe('health of what was applied', () => {
  it.each([...OUR_KINDS, ...PLAIN_KINDS])('$answer: $name', ({ objects, answer, reason, because }) => {
    const said = settlementOf(objects);
    expect([said.answer, said.because]).toEqual([answer, because]);
    expect(said.answer === 'Settled' ? undefined : said.reason).toBe(reason);
  });

  it('is Unknown while the cluster is not seen, whatever was seen before', () => {
    for (const { objects } of OUR_KINDS) {
      expect(settlementOf(objects, 'no answer for 70 s')).toEqual({
        answer: 'Unknown',
        reason: 'ViewLost',
        because: 'no answer for 70 s',
      });
    }
  });

  it('names the first object that blocks, and since when', () => {
    const [, , row] = OUR_KINDS;
    const said = settlementOf(row?.objects ?? []);
    expect(said).toMatchObject({
      blocker: { kind: 'Machine', name: 'a' },
      since: new Date('2030-01-01T00:00:00Z'),
      hasDeadline: true,
    });
  });

  it('never calls a set settled that holds anything but good objects', () => {
    const all = [...OUR_KINDS, ...PLAIN_KINDS].filter(({ objects }) => objects.length === 1);
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
