import { describe, expect, it } from 'vitest';
import type { Truth } from '../../src/rules/compiled-rule.ts';
import { decideOutcome } from '../../src/rules/explain.ts';

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
