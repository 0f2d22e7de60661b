import { describe, expect, it } from 'vitest';
import { conditionFact } from '../../../src/rules/facts/condition.ts';
import { diskFact } from '../../../src/rules/facts/disk.ts';
import { parseReading } from '../../../src/rules/facts/field.ts';
import { nodeFact } from '../../../src/rules/facts/node.ts';

describe('parseReading', () => {
  it('keeps valid fields only', () => {
    expect(parseReading(diskFact.fields, { usedPercent: 91, risingSeconds: 0, freeBytes: 7 })).toEqual({
      usedPercent: 91,
      risingSeconds: 0,
    });
  });

  it.each<readonly [string, unknown]>([
    ['a string', '91'],
    ['NaN', Number.NaN],
    ['too large', 101],
    ['negative', -1],
    ['null', null],
    ['a list', [91]],
    ['a function', () => 91],
    ['a wrapped number', { valueOf: () => 91 }],
  ])('ignores a percentage that is %s', (_, usedPercent) => {
    expect(parseReading(diskFact.fields, { usedPercent })).toEqual({});
  });

  it.each<readonly [string, unknown]>([
    ['unknown', 'true'],
    ['a boolean', true],
    ['empty', ''],
  ])('ignores a status that is %s', (_, status) => {
    expect(parseReading(conditionFact.fields, { status })).toEqual({});
    expect(parseReading(conditionFact.fields, { status: 'Unknown' })).toEqual({ status: 'Unknown' });
  });

  it('keeps booleans, but not as strings', () => {
    expect(parseReading(nodeFact.fields, { unschedulable: false, gpuAllocatable: 0 })).toEqual({
      unschedulable: false,
      gpuAllocatable: 0,
    });
    expect(parseReading(nodeFact.fields, { unschedulable: 'false', gpuAllocatable: 0.5 })).toEqual({});
  });

  it('ignores the prototype and returns a frozen object', () => {
    const reading = parseReading(
      diskFact.fields,
      Object.create({ usedPercent: 91 }) as Record<string, unknown>,
    );
    expect(reading).toEqual({});
    expect(Object.isFrozen(reading)).toBe(true);
  });
});
