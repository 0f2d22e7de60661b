import { describe, expect, it } from 'vitest';
import type { Freeze } from '../../../../src/api/generated/types.ts';
import { type FreezeRequest, planFreeze } from '../../../../src/cli/commands/freeze/plan.ts';
import { pipeline } from '../builders.ts';

const NOW = new Date('2030-12-01T10:00:00.500Z');
const REQUEST: FreezeRequest = {
  from: new Date('2030-12-20T17:00:00Z'),
  until: new Date('2031-01-03T06:00:00Z'),
  reason: 'end of year',
};
const ENTRY = {
  name: 'freeze-2030-12-20',
  from: '2030-12-20T17:00:00Z',
  until: '2031-01-03T06:00:00Z',
  reason: 'end of year',
};

function planned(request: Partial<FreezeRequest>, freezes: readonly Freeze[] = []): Freeze {
  const made = pipeline({});
  return planFreeze({ ...made, spec: { ...made.spec, freezes } }, { ...REQUEST, ...request }, NOW);
}

describe('planFreeze', () => {
  it('S36 names a freeze by the day on which it begins, or as the request names it', () => {
    expect(planned({})).toEqual(ENTRY);
    expect(planned({ name: 'holidays', from: NOW })).toEqual({
      ...ENTRY,
      name: 'holidays',
      from: '2030-12-01T10:00:00Z',
    });
  });

  it.each<[name: string, request: Partial<FreezeRequest>, freezes: Freeze[], message: string]>([
    [
      'that ends before it begins',
      { until: new Date('2030-12-20T16:00:00Z') },
      [],
      'it ends at 2030-12-20T16:00:00Z, before it begins at 2030-12-20T17:00:00Z',
    ],
    [
      'that is over',
      { from: new Date('2029-01-01T00:00:00Z'), until: NOW },
      [],
      'it is over since 2030-12-01T10:00:00Z',
    ],
    ['without a reason', { reason: '  ' }, [], 'expected a reason of 1 to 256 characters, got 2'],
    [
      'with a long reason',
      { reason: 'x'.repeat(257) },
      [],
      'expected a reason of 1 to 256 characters, got 257',
    ],
    ['whose name exists', {}, [ENTRY], 'Pipeline fleet has a freeze freeze-2030-12-20 already'],
    [
      'beyond what the kind accepts',
      {},
      Array.from({ length: 32 }, (_, index) => ({ ...ENTRY, name: `f-${index}` })),
      'Pipeline fleet has 32 freezes already',
    ],
  ])('S36 refuses to declare a freeze %s', (_, request, freezes, message) => {
    expect(() => planned(request, freezes)).toThrow(`the freeze cannot be declared: ${message}`);
  });
});
