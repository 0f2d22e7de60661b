import { describe, expect, it } from 'vitest';
import { createExpressionsCache } from '../../../../src/sync/health/expressions/cache.ts';
import { createHealthExpressions } from '../../../../src/sync/health/expressions/health-expressions.ts';
import { settlementOf } from '../../../../src/sync/health/health.ts';
import { kubenodeObject, otherObject } from '../fixtures.ts';

const ROLLOUT = {
  group: 'argoproj.io',
  kind: 'Rollout',
  healthy: "self.status.phase == 'Healthy'",
  failed: "self.status.phase == 'Degraded'",
};
const CERTIFICATE = {
  group: 'cert-manager.io',
  kind: 'Certificate',
  healthy: "self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
};
const CRON_JOB = { group: 'batch', kind: 'CronJob', healthy: 'has(self.status.lastSuccessfulTime)' };
const BROKEN = { group: 'example.com', kind: 'Widget', healthy: 'self.' };
const EXPRESSIONS = createHealthExpressions([ROLLOUT, CERTIFICATE, CRON_JOB, BROKEN]);

describe('createHealthExpressions', () => {
  it.each<[name: string, type: string, status: object, words: string, expected: string]>([
    ['a Rollout that is healthy', 'argoproj.io/v1alpha1 Rollout', { phase: 'Healthy' }, '', 'Settled'],
    [
      'a Rollout that progresses',
      'argoproj.io/v1alpha1 Rollout',
      { phase: 'Progressing' },
      '',
      `Progressing ExpressionNotTrue: Rollout web/a: self.status.phase == 'Healthy' is false`,
    ],
    [
      'a Rollout without a status',
      'argoproj.io/v1alpha1 Rollout',
      {},
      '',
      `Progressing ExpressionNotTrue: Rollout web/a: self.status.phase == 'Healthy' has no result: No such key: phase`,
    ],
    [
      'a Rollout that failed',
      'argoproj.io/v1alpha1 Rollout',
      { phase: 'Degraded' },
      'Ready=False Waiting',
      `Failed ExpressionFailed: Rollout web/a: self.status.phase == 'Degraded' is true`,
    ],
    [
      'a Rollout whose controller reports an older generation',
      'argoproj.io/v1alpha1 Rollout',
      { phase: 'Degraded', observedGeneration: 1 },
      '',
      'Progressing NotObservedYet: Rollout web/a: its controller has not observed generation 2',
    ],
    [
      'a healthy phase beside Ready=False: both have to agree',
      'argoproj.io/v1alpha1 Rollout',
      { phase: 'Healthy' },
      'Ready=False Waiting',
      'Progressing Waiting: Rollout web/a: Ready=False, it is Waiting',
    ],
    ['a Certificate that is issued', 'cert-manager.io/v1 Certificate', {}, 'Ready', 'Settled'],
    [
      'a Certificate without conditions',
      'cert-manager.io/v1 Certificate',
      {},
      '',
      expect.stringContaining('Progressing ExpressionNotTrue') as string,
    ],
    ['a CronJob that succeeded once', 'batch/v1 CronJob', { lastSuccessfulTime: 'x' }, '', 'Settled'],
    [
      'an expression that was applied past the checks of a commit',
      'example.com/v1 Widget',
      {},
      '',
      'Progressing ExpressionNotTrue: Widget web/a: self. has no result: at character 6: Expected IDENTIFIER, got EOF',
    ],
    ['a kind of another group', 'example.com/v1 Rollout', {}, '', 'Settled'],
  ])('S14 judges by the declared expressions %s', (...[, type, status, words, expected]) => {
    const settlement = settlementOf([{ ...otherObject(type, {}, status, words), expressions: EXPRESSIONS }]);
    const text =
      settlement.answer === 'Settled'
        ? 'Settled'
        : `${settlement.answer} ${settlement.reason}: ${settlement.because}`;
    expect(text).toEqual(expected);
  });

  it('S14 leaves the kinds of kubenode to their conditions', () => {
    const own = createHealthExpressions([{ group: 'kubenode.dev', kind: 'Machine', healthy: 'false' }]);
    expect(settlementOf([{ ...kubenodeObject('Machine', 'Ready'), expressions: own }]).answer).toBe(
      'Settled',
    );
  });

  it('S14 judges an object again only when it changed', () => {
    const object = otherObject('argoproj.io/v1alpha1 Rollout', {}, { phase: 'Healthy' });
    const { observed } = object;
    if (typeof observed !== 'object') throw new Error('the object is observed');
    const healthy = { state: 'healthy' } as const;
    const first = EXPRESSIONS.finding({ ...observed, status: { phase: 'x' } }, healthy);
    const known = EXPRESSIONS.finding(observed, healthy);
    expect(first.state).toBe('progressing');
    expect(EXPRESSIONS.finding(observed, healthy)).toBe(known);
  });

  it('shortens a long expression in its message', () => {
    const long = createHealthExpressions([{ ...ROLLOUT, failed: `${'true && '.repeat(50)}true` }]);
    const object = { ...otherObject('argoproj.io/v1alpha1 Rollout', {}, {}), expressions: long };
    expect(settlementOf([object]).because.length).toBeLessThan(160);
  });
});

describe('createExpressionsCache', () => {
  it('S14 compiles the expressions again only when they changed', () => {
    const cache = createExpressionsCache();
    const first = cache([ROLLOUT]);
    expect(cache([{ ...ROLLOUT }])).toBe(first);
    expect(cache([CERTIFICATE])).not.toBe(first);
    expect(cache(undefined)).not.toBe(first);
  });
});
