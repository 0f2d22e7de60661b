import { expect, it } from 'vitest';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import { evictionOf, evictionOutcome } from '../../../../src/kube/controller/writes/evict.ts';

const BUDGET = { reason: 'DisruptionBudget', message: 'The disruption budget web needs 2 healthy pods' };

it('names the very Pod by its UID, and its grace period', () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', uid: 'u' } };
  expect(evictionOf(pod, 30)).toEqual({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'p', namespace: 'n' },
    deleteOptions: { preconditions: { uid: 'u' }, gracePeriodSeconds: 30 },
  });
  expect(evictionOf(pod, undefined)).not.toHaveProperty('deleteOptions.gracePeriodSeconds');
});

it.each<[name: string, error: unknown, outcome: unknown]>([
  ['a Pod that is not found counts as evicted', new KubeError('NotFound', 'no such pod'), { evicted: true }],
  [
    'a disruption budget answers with its words and when to ask again',
    new KubeError('TooManyRequests', 'no', { causes: [BUDGET], retryAfterSeconds: 10 }),
    { evicted: false, because: BUDGET.message, retryAfterSeconds: 10 },
  ],
  [
    'a disruption budget may name no time',
    new KubeError('TooManyRequests', 'no', { causes: [{ reason: 'DisruptionBudget' }] }),
    { evicted: false, because: 'no' },
  ],
  ['a 429 of priority and fairness stays an error', new KubeError('TooManyRequests', 'slow down'), undefined],
  ['a Pod of another UID stays an error', new KubeError('Conflict', 'uid'), undefined],
  ['anything else stays an error', new Error('x'), undefined],
])('%s', (_, error, outcome) => {
  expect(evictionOutcome(error)).toEqual(outcome);
});
