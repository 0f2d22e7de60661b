import { describe, expect, it } from 'vitest';
import { type CheckOptions, checkRunner, judgeSample } from '../../src/rollout/check-runner.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { checkOf } from '../sync/promote/small-world.ts';

const { builtin: _, ...bare } = checkOf({ name: 'errors' });
const HTTP = { ...bare, http: { url: 'https://app.example.com/ready', expectStatus: 200 } };
const PROMQL = { ...bare, promql: { query: 'sum(rate(errors[5m]))', max: 1 } };
const NOBODY = (): Promise<never> => Promise.reject(new Error('nobody is asked'));
const ABOUT = { cluster: 'prod-1', health: undefined };

function vector(...values: string[]): string {
  return JSON.stringify({
    status: 'success',
    data: { resultType: 'vector', result: values.map((value) => ({ metric: {}, value: [1, value] })) },
  });
}

function scalar(value: string): string {
  return JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1, value] } });
}

function runner(get: CheckOptions['get'], more: Partial<CheckOptions> = {}): ReturnType<typeof checkRunner> {
  return checkRunner({ clock: virtualClock(), get, prometheusUrl: 'http://prometheus:9090/', ...more });
}

describe('a check', () => {
  it.each([
    [200, 'Passed'],
    [503, 'Failed'],
    [301, 'Failed'],
  ])('over http that answers %i is %s', async (status, result) => {
    const answer = await runner(async () => ({ status, body: '' })).run(HTTP, ABOUT);
    expect(answer).toEqual({
      result,
      message: `https://app.example.com/ready answered ${status}, wanted 200`,
    });
  });

  it.each([HTTP, PROMQL])('that cannot be asked is Unknown', async (check) => {
    const answer = await runner(() => Promise.reject(new Error('connection refused'))).run(check, ABOUT);
    expect(answer).toEqual({ result: 'Unknown', message: 'connection refused' });
  });

  it.each([HTTP, PROMQL])('that gets no answer in time is Unknown, and is given up', async (check) => {
    const clock = virtualClock();
    let given: AbortSignal | undefined;
    const asked = runner(
      (_url, signal) => {
        given = signal;
        return new Promise(() => undefined);
      },
      { clock, timeoutMs: 3000 },
    ).run(check, ABOUT);
    await clock.advance(3000);
    expect(await asked).toEqual({ result: 'Unknown', message: 'no answer within 3 s' });
    expect(given?.aborted).toBe(true);
    expect(clock.sleepers).toBe(0);
  });

  it('asks Prometheus with the query in the address', async () => {
    const urls: string[] = [];
    const answer = await runner(async (url) => {
      urls.push(url);
      return { status: 200, body: vector('0.5') };
    }).run(PROMQL, ABOUT);
    expect(urls).toEqual(['http://prometheus:9090/api/v1/query?query=sum%28rate%28errors%5B5m%5D%29%29']);
    expect(answer.result).toBe('Passed');
  });

  it('says that it knows no Prometheus', async () => {
    const answer = await checkRunner({
      clock: virtualClock(),
      get: async () => ({ status: 200, body: '' }),
    }).run(PROMQL, ABOUT);
    expect(answer).toEqual({
      result: 'Unknown',
      message: 'no Prometheus is known: start sync with --prometheus-url',
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
  ])('has no answer when Prometheus says %i %s', async (status, body) => {
    expect((await runner(async () => ({ status, body })).run(PROMQL, ABOUT)).result).toBe('Unknown');
  });

  it.each([
    ['1', { max: 1 }, 'Passed'],
    ['1.01', { max: 1 }, 'Failed'],
    ['0.9', { min: 1 }, 'Failed'],
    ['5', { min: 1, max: 9 }, 'Passed'],
    ['+Inf', { max: 9 }, 'Failed'],
    ['-Inf', { min: 1 }, 'Failed'],
  ])('judges %s within %j as %s, as a vector and as a scalar', (value, bounds, result) => {
    expect(judgeSample(vector(value), bounds).result).toBe(result);
    expect(judgeSample(scalar(value), bounds).result).toBe(result);
  });

  it.each([
    ['Settled', 'Passed'],
    ['Failed', 'Failed'],
    ['Progressing', 'Unknown'],
    ['Unknown', 'Unknown'],
  ] as const)('of the builtin kind: health %s is %s', async (answer, result) => {
    const health = { answer, because: 'so it is' };
    expect(await runner(NOBODY).run(checkOf({ name: 'health' }), { cluster: 'a', health })).toEqual({
      result,
      message: 'so it is',
    });
    expect((await runner(NOBODY).run(checkOf({ name: 'health' }), ABOUT)).result).toBe('Unknown');
  });

  it('of type cel is never passed, and says why', async () => {
    const cel = { ...bare, cel: { kind: 'Machine', expression: 'true' } };
    const answer = await runner(async () => ({ status: 200, body: '' })).run(cel, ABOUT);
    expect(answer.result).toBe('Unknown');
    expect(answer.message).toContain('of type cel, which sync cannot evaluate');
  });
});
