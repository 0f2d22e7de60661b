import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import {
  type AnswerContext,
  type EvictionRefusal,
  refusalOfError,
  refusalOfOutcome,
  refusedAnswer,
} from '../../../src/kube/drain/answers.ts';
import { NOW } from '../../support/builders.ts';

const after = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1000);

describe('refusalOfOutcome', () => {
  it('takes the words of a budget, and none of an accepted eviction', () => {
    expect(refusalOfOutcome({ evicted: true })).toBeUndefined();
    expect(refusalOfOutcome({ evicted: false, because: 'no', retryAfterSeconds: 3 })).toEqual({
      reason: 'Budget',
      because: 'no',
      retryAfterSeconds: 3,
    });
  });
});

describe('refusalOfError', () => {
  it.each<[name: string, error: unknown, refusal: EvictionRefusal | undefined]>([
    ['another UID', new KubeError('Conflict', 'uid', { status: 409 }), { reason: 'Changed', because: 'uid' }],
    [
      'priority and fairness',
      new KubeError('TooManyRequests', 'slow', { status: 429, retryAfterSeconds: 7 }),
      { reason: 'Overloaded', because: 'slow', retryAfterSeconds: 7 },
    ],
    [
      'a server that is starting',
      new KubeError('ServerError', 'not ready', { status: 503 }),
      { reason: 'Overloaded', because: 'not ready' },
    ],
    [
      'a webhook that cannot be called',
      new KubeError('ServerError', 'failed calling webhook', { status: 500 }),
      { reason: 'Denied', because: 'failed calling webhook' },
    ],
    [
      'a webhook that denies',
      new KubeError('Forbidden', 'denied', { status: 403 }),
      { reason: 'Denied', because: 'denied' },
    ],
    [
      'a webhook that denies with the code of an overload',
      new KubeError('TooManyRequests', 'not now', { status: 429 }),
      { reason: 'Denied', because: 'not now' },
    ],
    [
      'a budget that others change all the time',
      new KubeError('Timeout', 'conflicts', { status: 504 }),
      { reason: 'Denied', because: 'conflicts' },
    ],
    ['no answer in time', new KubeError('Timeout', 'slow'), undefined],
    ['no connection', new KubeError('Unreachable', 'reset'), undefined],
    ['a lost lease', new KubeError('Aborted', 'fence'), undefined],
    [
      'credentials that the server does not accept',
      new KubeError('Unauthorized', 'x', { status: 401 }),
      undefined,
    ],
    ['the answer of something else', new KubeError('BadAnswer', 'html', { status: 404 }), undefined],
    ['a mistake in the program', new Error('undeclared'), undefined],
  ])('%s', (_, error, refusal) => {
    expect(refusalOfError(error)).toEqual(refusal);
  });
});

describe('refusedAnswer', () => {
  const context: AnswerContext = {
    budgets: ['shop/b'],
    previous: undefined,
    knownSince: undefined,
    now: NOW,
  };
  const budget: EvictionRefusal = { reason: 'Budget', because: 'no' };

  it('asks again after 5 seconds, and twice as long each time, to a minute', () => {
    let answer = refusedAnswer(budget, context);
    const waits = [answer.askAt];
    for (let n = 0; n < 5; n += 1) {
      answer = refusedAnswer(budget, { ...context, previous: answer });
      waits.push(answer.askAt);
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60].map(after));
  });

  it('never asks before the server wants it', () => {
    expect(refusedAnswer({ ...budget, retryAfterSeconds: 90 }, context).askAt).toEqual(after(90));
    expect(refusedAnswer({ ...budget, retryAfterSeconds: 1 }, context).askAt).toEqual(after(5));
  });

  it('keeps when the refusals began, also from before a restart', () => {
    const first = refusedAnswer(budget, { ...context, knownSince: after(-900) });
    expect(first.since).toEqual(after(-900));
    expect(refusedAnswer(budget, { ...context, previous: first, now: after(60) }).since).toEqual(after(-900));
    expect(refusedAnswer(budget, context).since).toEqual(NOW);
  });

  it('begins again after an eviction that was accepted', () => {
    const previous = { kind: 'Accepted', at: after(-60) } as const;
    expect(refusedAnswer(budget, { ...context, previous })).toMatchObject({ since: NOW, refusals: 1 });
  });

  it('names the budgets when there are several, and only then for an error', () => {
    const denied: EvictionRefusal = { reason: 'Denied', because: 'internal error' };
    expect(refusedAnswer(denied, context)).toMatchObject({ reason: 'Denied', budgets: [] });
    expect(refusedAnswer(denied, { ...context, budgets: ['shop/a', 'shop/b'] })).toMatchObject({
      reason: 'SeveralBudgets',
      because: 'more than one PodDisruptionBudget covers it (shop/a, shop/b): internal error',
      budgets: ['shop/a', 'shop/b'],
    });
  });
});
