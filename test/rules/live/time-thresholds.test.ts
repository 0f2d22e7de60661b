import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/rules/compiled-rule.ts';
import { nextThresholdMs } from '../../../src/rules/live/time-thresholds.ts';
import { hungFor, type LeafText, ruleOf } from './rules-bed.ts';

function leaf(path: string, operator: string, value: unknown): LeafText {
  return { fact: 'component', params: { name: 'kubelet' }, path, operator, value };
}

describe('nextThresholdMs', () => {
  it.each<readonly [name: string, ms: number, leaves: readonly LeafText[], reading: Reading]>([
    ['is when a duration reaches its value', 120_001, hungFor(180), { observedSeconds: 60 }],
    ['is never for one that passed it', Infinity, hungFor(180), { observedSeconds: 181 }],
    ['is just after a value that must be exceeded', 1, hungFor(180), { observedSeconds: 180 }],
    ['is never for an unknown duration', Infinity, hungFor(180), {}],
    ['is never for a state', Infinity, [leaf('$.state', 'equal', 'Failed')], { state: 'Failed' }],
    ['is never for a count', Infinity, [leaf('$.restartsPerHour', 'lessThan', 5)], { restartsPerHour: 1 }],
    [
      'is never for what does not fail',
      Infinity,
      [leaf('$.failedSeconds', 'greaterThan', 60)],
      { failedSeconds: 0 },
    ],
    [
      'is the first of several',
      10_001,
      [leaf('$.failedSeconds', 'greaterThan', 60), leaf('$.failedSeconds', 'lessThan', 15)],
      { failedSeconds: 5 },
    ],
    [
      'is when a countdown has run down to its value',
      90_001,
      [{ fact: 'maintenance', path: '$.secondsUntilAct', operator: 'lessThanInclusive', value: 30 }],
      { secondsUntilAct: 120 },
    ],
    [
      'is never for a countdown that passed it',
      Infinity,
      [{ fact: 'maintenance', path: '$.secondsUntilAct', operator: 'lessThanInclusive', value: 0 }],
      { secondsUntilAct: -1 },
    ],
    ['reads every value of a list', 2001, [leaf('$.failedSeconds', 'in', [3, 7, 90])], { failedSeconds: 5 }],
  ])('R8 the next time threshold of a rule %s', (_, ms, leaves, reading) => {
    expect(nextThresholdMs(ruleOf(leaves), () => reading)).toBe(ms);
  });
});
