import { describe, expect, it } from 'vitest';
import { ago } from '../../support/builders.ts';
import { lying, reporting } from '../live/facts-bed.ts';

const IMAGEFS = { filesystem: 'imagefs' };

describe('the fact disk', () => {
  it('has the usage of a file system, and for how long it rises', () => {
    const disk = [
      { filesystem: 'imagefs', usedPercent: 91, risingSince: ago(300) },
      { filesystem: 'nodefs' },
    ];
    const bed = reporting({ facts: { disk } });
    expect(bed.read('disk', IMAGEFS)).toEqual({ usedPercent: 91, risingSeconds: 300 });
    expect(bed.read('disk', { filesystem: 'nodefs' })).toEqual({ risingSeconds: 0 });
  });

  it.each<readonly [name: string, facts: unknown]>([
    ['no list', { disk: 'imagefs' }],
    ['a list of other things', { disk: [null, 'imagefs', 4, { filesystem: 5 }] }],
    ['more than 100 percent', { disk: [{ filesystem: 'imagefs', usedPercent: 900 }] }],
    ['a number as a string', { disk: [{ filesystem: 'imagefs', usedPercent: '91' }] }],
  ])('R1 does not know the usage of a report that is %s', (_, facts) => {
    const bed = reporting({ facts: lying(facts) });
    expect(bed.read('disk', IMAGEFS)).not.toHaveProperty('usedPercent');
  });
});
