import { describe, expect, it } from 'vitest';
import { condition } from '../../../src/rules/facts/condition.ts';
import { disk } from '../../../src/rules/facts/disk.ts';
import { readingOf } from '../../../src/rules/facts/fact.ts';
import { node } from '../../../src/rules/facts/node.ts';

describe('a reading of what somebody reports', () => {
  it('is what fits; all else is unknown', () => {
    expect(readingOf(disk.fields, { usedPercent: 91, risingSeconds: 0, freeBytes: 7 })).toEqual({
      usedPercent: 91,
      risingSeconds: 0,
    });
  });

  it.each<readonly [string, unknown]>([
    ['text', '91'],
    ['no number', Number.NaN],
    ['too much', 101],
    ['less than nothing', -1],
    ['null', null],
    ['a list', [91]],
    ['a function', () => 91],
    ['a wrapped number', { valueOf: () => 91 }],
  ])('knows no percentage that is %s', (_, usedPercent) => {
    expect(readingOf(disk.fields, { usedPercent })).toEqual({});
  });

  it.each<readonly [string, unknown]>([
    ['no status of a condition', 'true'],
    ['truth', true],
    ['empty', ''],
  ])('knows no status that is %s', (_, status) => {
    expect(readingOf(condition.fields, { status })).toEqual({});
    expect(readingOf(condition.fields, { status: 'Unknown' })).toEqual({ status: 'Unknown' });
  });

  it('keeps truth that is truth', () => {
    expect(readingOf(node.fields, { unschedulable: false, gpuAllocatable: 0 })).toEqual({
      unschedulable: false,
      gpuAllocatable: 0,
    });
    expect(readingOf(node.fields, { unschedulable: 'false', gpuAllocatable: 0.5 })).toEqual({});
  });

  it('takes nothing from a prototype, and can be changed by nobody', () => {
    const reading = readingOf(disk.fields, Object.create({ usedPercent: 91 }) as Record<string, unknown>);
    expect(reading).toEqual({});
    expect(Object.isFrozen(reading)).toBe(true);
  });
});
