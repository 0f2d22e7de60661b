import { describe, expect, it } from 'vitest';
import { type CheckRunnerOptions, createCheckRunner } from '../../../src/rollout/checks/runner.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { checkOf, NOW } from '../builders.ts';
import { vector } from './prometheus-answers.ts';

const { builtin: _, ...bare } = checkOf({ name: 'errors' });
const HTTP = { ...bare, http: { url: 'https://app.example.com/ready', expectStatus: 200 } };
const PROMQL = { ...bare, promql: { query: 'sum(rate(errors[5m]))', max: 1 } };
const NO_HTTP = (): Promise<never> => Promise.reject(new Error('no request expected'));
const SUBJECT = { name: 'prod-1' };

/** The answers of Prometheus are of this time. */
function atNow(): ReturnType<typeof virtualClock> {
  return { ...virtualClock(), now: () => NOW };
}

function runner(
  get: CheckRunnerOptions['get'],
  more: Partial<CheckRunnerOptions> = {},
): ReturnType<typeof createCheckRunner> {
  return createCheckRunner({ clock: atNow(), get, prometheusUrl: 'http://prometheus:9090/', ...more });
}

/** What is shown when the request fails so. */
async function messageWith(error: Error): Promise<string> {
  const failing = runner(async () => {
    throw error;
  });
  return (await failing.run(PROMQL, SUBJECT)).message;
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

  it('ROL-22 puts the machines into the query, and asks nothing where it cannot', async () => {
    const urls: string[] = [];
    const get = async (url: string): Promise<{ status: number; body: string }> => {
      urls.push(url);
      return { status: 200, body: vector('0.5') };
    };
    const check = { ...bare, promql: { query: 'max(errors{node=~"${batch}"})', max: 1 } };
    const machines = { batch: ['m-1', 'm-2'], rest: [] };
    expect((await runner(get).run(check, { ...SUBJECT, machines })).result).toBe('Passed');
    expect(new URL(urls[0] ?? '').searchParams.get('query')).toBe('max(errors{node=~"(?:m-1|m-2)"})');
    const inStage = await runner(get).run(check, SUBJECT);
    expect(inStage.result).toBe('Unknown');
    expect(inStage.message).toContain('of a MachineComponentSet only');
    expect(urls).toHaveLength(1);
  });

  it.each([
    [
      'https://user:secret@app.example.com/',
      'the URL of the check cannot be read, or has a user or a password',
    ],
    ['https://[', 'the URL of the check cannot be read, or has a user or a password'],
  ])('calls no URL that would be shown with a password: %s', async (url, message) => {
    const check = { ...bare, http: { url, expectStatus: 200 } };
    expect(await runner(() => Promise.reject(new Error('called'))).run(check, SUBJECT)).toEqual({
      result: 'Unknown',
      message,
    });
  });

  it('DAT-09 reads nothing of the body for an HTTP check, and all of it from Prometheus', async () => {
    const sizes: (number | undefined)[] = [];
    const get: CheckRunnerOptions['get'] = async (_url, _signal, maxBytes) => {
      sizes.push(maxBytes);
      return { status: 200, body: vector('0.5') };
    };
    await runner(get).run(HTTP, SUBJECT);
    await runner(get).run(PROMQL, SUBJECT);
    expect(sizes).toEqual([0, undefined]);
  });

  it('shows a URL without its query, which may have a token', async () => {
    const check = {
      ...bare,
      http: { url: 'https://app.example.com/ready?token=secret#x', expectStatus: 200 },
    };
    const { message } = await runner(async () => ({ status: 503, body: '' })).run(check, SUBJECT);
    expect(message).toBe('https://app.example.com/ready: expected status 200, got 503');
  });

  it('tells why there is no answer, which fetch has in the cause of its error', async () => {
    const failed = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 10.0.0.1:9090') });
    const both = new TypeError('fetch failed', {
      cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
    });
    expect(await messageWith(failed)).toBe('connect ECONNREFUSED 10.0.0.1:9090');
    expect(await messageWith(both)).toBe('ECONNREFUSED');
  });

  it('is Unknown without a Prometheus, and names the option', async () => {
    const answer = await createCheckRunner({
      clock: virtualClock(),
      get: async () => ({ status: 200, body: '' }),
    }).run(PROMQL, SUBJECT);
    expect(answer).toEqual({
      result: 'Unknown',
      message: 'no Prometheus is configured: start this program with --prometheus-url',
    });
  });

  it.each([
    [500, vector('0.5')],
    [200, '<html>'],
    [200, JSON.stringify({ status: 'error', error: 'parse error' })],
    [200, vector()],
    [414, ''],
    [302, ''],
  ])('is Unknown when Prometheus answers %i %s', async (status, body) => {
    expect((await runner(async () => ({ status, body })).run(PROMQL, SUBJECT)).result).toBe('Unknown');
  });

  it.each([
    ['Settled', 'Passed'],
    ['Failed', 'Failed'],
    ['Progressing', 'Unknown'],
    ['Unknown', 'Unknown'],
  ] as const)('rates health %s as %s for a builtin check', async (answer, result) => {
    const health = { answer, because: 'as observed' };
    expect(await runner(NO_HTTP).run(checkOf({ name: 'health' }), { name: 'a', health })).toEqual({
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
