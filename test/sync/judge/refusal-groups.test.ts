import { describe, expect, it } from 'vitest';
import { groupRefusals } from '../../../src/sync/judge/refusal-groups.ts';

function refusalIn(target: string, message = 'why', file = 'fleet/a.ts:3') {
  return { target, unit: 'web', object: 'Rule hung', source: `${file} ${target}/rules/hung`, message };
}

describe('groupRefusals', () => {
  it('FST-3 shows the refusal of one line once, with its clusters', () => {
    const other = refusalIn('test', 'other');
    expect(groupRefusals([refusalIn('test'), other, refusalIn('pre'), refusalIn('prod')])).toEqual([
      {
        object: 'Rule hung',
        message: 'why',
        source: 'fleet/a.ts:3 test/rules/hung',
        targets: 'test, pre, prod',
      },
      { object: 'Rule hung', message: 'other', source: 'fleet/a.ts:3 test/rules/hung', targets: 'test' },
    ]);
  });

  it('counts the clusters of a large fleet, and one cluster once', () => {
    const names = Array.from({ length: 9 }, (_, index) => `c${index}`);
    const [group] = groupRefusals(['c0', ...names].map((name) => refusalIn(name)));
    expect(group?.targets).toBe('c0, c1 and 7 more');
  });

  it('keeps refusals of different lines apart', () => {
    const found = groupRefusals([refusalIn('test'), refusalIn('pre', 'why', 'fleet/b.ts:9')]);
    expect(found.map(({ targets }) => targets)).toEqual(['test', 'pre']);
  });
});
