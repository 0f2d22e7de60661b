import { describe, expect, it } from 'vitest';
import { type AlertResult, alertResult } from '../../../src/defender/alerts/alert-state.ts';
import { NOW } from '../builders.ts';

type Sample = readonly [seconds: number, value: string];

const SECONDS = +NOW / 1000;

function vector(...samples: readonly Sample[]): object {
  const result = samples.map((value) => ({ metric: {}, value }));
  return { status: 'success', data: { resultType: 'vector', result } };
}

function many(count: number): readonly Sample[] {
  return Array.from({ length: count }, () => [SECONDS, '1']);
}

describe('the answer to a query of a policy', () => {
  it.each<[what: string, body: object | string, state: AlertResult['state'], message: string]>([
    ['no sample', vector(), 'Quiet', 'no sample'],
    ['one sample', vector([SECONDS, '1']), 'Firing', '1 sample'],
    ['a sample that is 0', vector([SECONDS, '0']), 'Firing', '1 sample'],
    ['an infinite sample', vector([SECONDS, '+Inf']), 'Firing', '1 sample'],
    ['1,000 samples', vector(...many(1000)), 'Firing', '1000 samples'],
    [
      '2,000 samples',
      vector(...many(2000)),
      'Unknown',
      'at most 1000 samples are read, got 2000: aggregate the query',
    ],
    ['NaN beside a number', vector([SECONDS, '1'], [SECONDS, 'NaN']), 'Unknown', 'Prometheus returned NaN'],
    [
      'a sample that is too old',
      vector([SECONDS - 301, '1']),
      'Unknown',
      `the answer of Prometheus is not of now: its time is ${SECONDS - 301}`,
    ],
    ['text', vector([SECONDS, 'x']), 'Unknown', 'Prometheus returned a value that cannot be read'],
    [
      'a scalar',
      { status: 'success', data: { resultType: 'scalar', result: [SECONDS, '0'] } },
      'Unknown',
      'Prometheus returned a scalar: use a query that selects series',
    ],
    [
      'a matrix',
      { status: 'success', data: { resultType: 'matrix', result: [] } },
      'Unknown',
      'Prometheus returned neither a scalar nor a vector',
    ],
    [
      'a vector without a list',
      { status: 'success', data: { resultType: 'vector' } },
      'Unknown',
      'Prometheus returned neither a scalar nor a vector',
    ],
    [
      'a part of the data',
      { ...vector(), warnings: ['a store is away'] },
      'Unknown',
      'Prometheus answered with warnings, as for a part of the data',
    ],
    [
      'an error',
      { status: 'error', error: 'parse error' },
      'Unknown',
      'Prometheus returned no result of a query',
    ],
    ['a page', '<p>', 'Unknown', 'Prometheus returned no result of a query'],
  ])('R23 permits only when nothing is found: %s', (_, body, state, message) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    expect(alertResult({ body: text }, NOW)).toEqual({ state, message });
  });

  it('R23 is Unknown without an answer', () => {
    expect(alertResult({ problem: 'no answer within 10 s' }, NOW)).toEqual({
      state: 'Unknown',
      message: 'no answer within 10 s',
    });
  });
});
