import { describe, expect, it } from 'vitest';
import { optional } from '../../../src/kube/objects/optional.ts';
import { createRuleIndex, maxAgeMs } from '../../../src/rules/live/rule-index.ts';
import { hungFor, ruleOf } from './rules-bed.ts';

const EVENTS = {
  fact: 'event',
  params: { reason: 'TaskHung', windowSeconds: 600 },
  path: '$.count',
  operator: 'greaterThan',
  value: 5,
};
const RULES = new Map([
  ['hung', ruleOf(hungFor(60))],
  ['strict', ruleOf(hungFor(60), { condition: 100 })],
  ['events', ruleOf([EVENTS])],
  ['both', ruleOf([...hungFor(60), EVENTS])],
]);

describe('R8 an index of rules by what they read', () => {
  it.each<
    readonly [name: string, rules: readonly string[], topics: readonly string[], silentMs: number | undefined]
  >([
    [
      'has the rules that read a condition',
      ['both', 'hung', 'strict'],
      ['condition FrequentTaskHung'],
      undefined,
    ],
    [
      'has each rule once',
      ['both', 'events', 'hung', 'strict'],
      ['condition FrequentTaskHung', 'event TaskHung'],
      undefined,
    ],
    ['has all that read any condition', ['both', 'hung', 'strict'], ['condition'], undefined],
    [
      'has no rule for what is not read',
      [],
      ['condition Ready', 'event OOMKilling', 'node', 'history'],
      undefined,
    ],
    ['has no rule for a sign of life while the fact was known', [], ['condition FrequentTaskHung'], 90_000],
    ['has the rules for which it was too old before', ['strict'], ['condition FrequentTaskHung'], 101_000],
    ['has all after a long silence', ['both', 'hung', 'strict'], ['condition FrequentTaskHung'], Infinity],
  ])('%s', (_, rules, topics, silentMs) => {
    const change = { topics, ...optional('silentMs', silentMs) };
    expect(createRuleIndex(RULES).affected(change)).toEqual(rules);
  });

  it.each([
    [Infinity, undefined],
    [Infinity, 'OurWatch'],
    [660_000, { seconds: 660 }],
    [30_000, { heartbeats: 3 }],
  ] as const)('R4 reads a maximum age of %d ms', (ms, maxAge) => {
    expect(maxAgeMs(maxAge)).toBe(ms);
  });
});
