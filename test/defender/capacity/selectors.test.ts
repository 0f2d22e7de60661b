import { describe, expect, it } from 'vitest';
import { expressionOf, selectorAt } from '../../../src/defender/capacity/selectors.ts';

describe('selectorAt', () => {
  it.each([
    ['nothing when it is absent', {}, { all: false }],
    ['everything when it is empty', { s: {} }, { all: true, matchLabels: {}, matchExpressions: [] }],
    [
      'by labels and expressions',
      { s: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] } },
      {
        all: true,
        matchLabels: { a: 'b' },
        matchExpressions: [{ key: 'c', operator: 'Exists', values: [] }],
      },
    ],
  ])('R28 selects Pods as Kubernetes does: %s', (_, value, expected) => {
    expect(selectorAt(value, 's')).toEqual(expected);
  });

  it('R28 refuses an operator that selectors of Pods do not have', () => {
    const matchExpressions = [{ key: 'a', operator: 'Gt', values: ['1'] }];
    expect(() => selectorAt({ s: { matchExpressions } }, 's')).toThrow('operator Gt of a');
    expect(() => expressionOf({ key: 'a' })).toThrow('without key or operator');
  });
});
