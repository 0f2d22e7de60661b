import { describe, expect, it } from 'vitest';
import {
  type CheckRunnerOptions,
  createCheckRunner,
  evaluateSample,
} from '../../../src/rollout/checks/runner.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { checkOf } from '../builders.ts';

const { builtin: _, ...bare } = checkOf({ name: 'errors' });
const HTTP = { ...bare, http: { url: 'https://app.example.com/ready', expectStatus: 200 } };
const PROMQL = { ...bare, promql: { query: 'sum(rate(errors[5m]))', max: 1 } };
const NO_HTTP = (): Promise<never> => Promise.reject(new Error('no request expected'));
const SUBJECT = { cluster: 'prod-1', health: undefined };

function vector(...values: string[]): string {
  return JSON.stringify({
    status: 'success',
    data: { resultType: 'vector', result: values.map((value) => ({ metric: {}, value: [1, value] })) },
  });
}

function scalar(value: string): string {
  return JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1, value] } });
}

function runner(
  get: CheckRunnerOptions['get'],
  more: Partial<CheckRunnerOptions> = {},
): ReturnType<typeof createCheckRunner> {
  return createCheckRunner({ clock: virtualClock(), get, prometheusUrl: 'http://prometheus:9090/', ...more });
}

describe('the check runner', () => {
  it.each([
    [200, 'Passed'],
    [503, 'Failed'],
    [301, 'Failed'],
  ])('rates an HTTP status of %i as %s', async (status, result) => {
    const answer = await runner(async () => ({ status, body: '' })).run(HTTP, SUBJECT);
    expect(answer).toEqual({
      result,
      message: `https://app.example.com/ready: expected status 200, got ${status}`,
    });
  });

  it.each([HTTP, PROMQL])('rates a failed request as Unknown', async (check) => {
    const answer = await runner(() => Promise.reject(new Error('connection refused'))).run(check, SUBJECT);
    expect(answer).toEqual({ result: 'Unknown', message: 'connection refused' });
  });

  it.each([HTTP, PROMQL])('rates a timeout as Unknown, and aborts the request', async (check) => {
    const clock = virtualClock();
    let requestSignal: AbortSignal | undefined;
    const answer = runner(
      (_url, signal) => {
        requestSignal = signal;
        return new Promise(() => undefined);
      },
      { clock, timeoutMs: 3000 },
    ).run(check, SUBJECT);
    await clock.advance(3000);
    expect(await answer).toEqual({ result: 'Unknown', message: 'no answer within 3 s' });
    expect(requestSignal?.aborted).toBe(true);
    expect(clock.sleepers).toBe(0);
  });

  it('sends the query to Prometheus in the URL', async () => {
    const urls: string[] = [];
    const answer = await runner(async (url) => {
      urls.push(url);
      return { status: 200, body: vector('0.5') };
    }).run(PROMQL, SUBJECT);
    expect(urls).toEqual(['http://prometheus:9090/api/v1/query?query=sum%28rate%28errors%5B5m%5D%29%29']);
    expect(answer.result).toBe('Passed');
  });

  it('is Unknown without a Prometheus, and names the option', async () => {
    const answer = await createCheckRunner({
      clock: virtualClock(),
      get: async () => ({ status: 200, body: '' }),
    }).run(PROMQL, SUBJECT);
    expect(answer).toEqual({
      result: 'Unknown',
      message: 'no Prometheus is configured: start sync with --prometheus-url',
    });
  });

  it.each([
    [500, vector('0.5')],
    [200, '<html>'],
    [200, JSON.stringify({ status: 'error', error: 'parse error' })],
    [200, vector()],
    [200, vector('0.5', '0.6')],
    [200, vector('NaN')],
    [200, JSON.stringify({ status: 'success', data: { resultType: 'matrix', result: [] } })],
  ])('is Unknown when Prometheus answers %i %s', async (status, body) => {
    expect((await runner(async () => ({ status, body })).run(PROMQL, SUBJECT)).result).toBe('Unknown');
  });

  it.each([
    ['1', { max: 1 }, 'Passed'],
    ['1.01', { max: 1 }, 'Failed'],
    ['0.9', { min: 1 }, 'Failed'],
    ['5', { min: 1, max: 9 }, 'Passed'],
    ['+Inf', { max: 9 }, 'Failed'],
    ['-Inf', { min: 1 }, 'Failed'],
  ])('rates the value %s within %j as %s, in a vector and as a scalar', (value, bounds, result) => {
    expect(evaluateSample(vector(value), bounds).result).toBe(result);
    expect(evaluateSample(scalar(value), bounds).result).toBe(result);
  });

  it.each([
    ['Settled', 'Passed'],
    ['Failed', 'Failed'],
    ['Progressing', 'Unknown'],
    ['Unknown', 'Unknown'],
  ] as const)('rates health %s as %s for a builtin check', async (answer, result) => {
    const health = { answer, because: 'as observed' };
    expect(await runner(NO_HTTP).run(checkOf({ name: 'health' }), { cluster: 'a', health })).toEqual({
      result,
      message: 'as observed',
    });
    expect((await runner(NO_HTTP).run(checkOf({ name: 'health' }), SUBJECT)).result).toBe('Unknown');
  });

  it('is Unknown for a check that a later version declared with another type', async () => {
    const answer = await runner(async () => ({ status: 200, body: '' })).run(bare, SUBJECT);
    expect(answer.result).toBe('Unknown');
    expect(answer.message).toContain('it has no type');
  });
});
