import { describe, expect, it } from 'vitest';
import type { Selector } from '../../../src/api/generated/types.ts';
import { isSelected } from '../../../src/kube/objects/selector.ts';

describe('isSelected', () => {
  const labels = { team: 'a', tier: '1' };

  it.each<[string, Selector, boolean]>([
    ['empty selects nothing', { all: false }, false],
    ['empty lists select nothing', { all: false, matchLabels: {}, matchExpressions: [] }, false],
    ['all selects everything', { all: true }, true],
    ['an existing label', { all: false, matchLabels: { team: 'a' } }, true],
    ['a label with another value', { all: false, matchLabels: { team: 'b' } }, false],
    ['a missing label', { all: false, matchLabels: { zone: 'a' } }, false],
    ['In', { all: false, matchExpressions: [{ key: 'team', operator: 'In', values: ['b', 'a'] }] }, true],
    [
      'In without the label',
      { all: false, matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] },
      false,
    ],
    ['NotIn', { all: false, matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] }, false],
    [
      'NotIn without the label',
      { all: false, matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] },
      true,
    ],
    ['Exists', { all: false, matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
    [
      'Exists of what every object has',
      { all: false, matchExpressions: [{ key: 'toString', operator: 'Exists' }] },
      false,
    ],
    ['DoesNotExist', { all: false, matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
    [
      'one that holds and one that does not',
      {
        all: false,
        matchLabels: { team: 'a' },
        matchExpressions: [{ key: 'tier', operator: 'In', values: ['2'] }],
      },
      false,
    ],
  ])('decides: %s', (_, selector, expected) => {
    expect(isSelected(selector, labels)).toBe(expected);
  });
});
