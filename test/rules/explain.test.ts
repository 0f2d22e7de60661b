import { describe, expect, it } from 'vitest';
import type { ConditionLeaf, Truth } from '../../src/rules/compiled-rule.ts';
import { decideOutcome, explainLeaf } from '../../src/rules/explain.ts';

describe('decideOutcome', () => {
  it.each<readonly [conditions: Truth, gate: Truth | undefined, outcome: string]>([
    ['True', undefined, 'Match'],
    ['True', 'True', 'Match'],
    ['True', 'False', 'Held'],
    ['True', 'Unknown', 'Indeterminate'],
    ['False', undefined, 'NoMatch'],
    ['False', 'False', 'NoMatch'],
    ['False', 'Unknown', 'NoMatch'],
    ['Unknown', undefined, 'Indeterminate'],
    ['Unknown', 'True', 'Indeterminate'],
    ['Unknown', 'False', 'Indeterminate'],
  ])('decides for conditions %s and gate %s: %s', (conditions, gate, outcome) => {
    expect(decideOutcome(conditions, gate)).toBe(outcome);
  });
});

it('explains a comparison with the value that was read, of numbers to thousandths', () => {
  const ref = { fact: 'disk', params: { filesystem: 'imagefs' }, key: 'disk imagefs' };
  const leaf: ConditionLeaf = { ref, field: 'usedPercent', operator: 'greaterThanInclusive', value: 80 };
  const { truth, lines } = explainLeaf(leaf, () => ({ usedPercent: 43.123_228_494 }));
  expect([truth, ...lines]).toEqual(['False', 'disk imagefs usedPercent is 43.123, not at least 80']);
});
