import { expect, it } from 'vitest';
import { coveringBudgets } from '../../../src/kube/drain/budgets.ts';
import { budget, drainPod } from '../../support/kube/drain-bed.ts';

const POD = drainPod('a', { labels: { app: 'cart', tier: 'web' } });

it.each<[name: string, selector: unknown, covers: boolean]>([
  ['equal labels', { matchLabels: { app: 'cart' } }, true],
  ['one different label', { matchLabels: { app: 'cart', tier: 'db' } }, false],
  ['an empty selector', {}, true],
  ['no selector', undefined, false],
  ['a null selector', null, false],
  ['an expression', { matchExpressions: [{ key: 'tier', operator: 'In', values: ['web'] }] }, true],
  [
    'an expression that excludes',
    { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['web'] }] },
    false,
  ],
  [
    'labels that match and an expression that does not',
    { matchLabels: { app: 'cart' }, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
    false,
  ],
])('%s', (_, selector, covers) => {
  expect(coveringBudgets(POD, [budget('b', selector)])).toEqual(covers ? ['shop/b'] : []);
});

it('returns all budgets of the namespace that cover the pod, sorted', () => {
  const budgets = [budget('b', {}), budget('c', {}, 'bank'), budget('a', {})];
  expect(coveringBudgets(POD, budgets)).toEqual(['shop/a', 'shop/b']);
});
