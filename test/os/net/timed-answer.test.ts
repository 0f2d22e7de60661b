import { describe, expect, it } from 'vitest';
import { answerInTime } from '../../../src/os/net/timed-answer.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

const clock = createSystemClock();

describe('answerInTime', () => {
  it('returns the answer', async () => {
    expect(await answerInTime({ clock }, () => Promise.resolve('yes'))).toEqual({ answer: 'yes' });
  });

  it.each<[what: string, error: unknown, problem: string]>([
    [
      'names the cause of fetch',
      new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') }),
      'connect ECONNREFUSED',
    ],
    ['names another error', new Error('no such host'), 'no such host'],
    [
      'names the code of an error without a message',
      Object.assign(new Error(''), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
    ],
  ])('returns an error as a problem, and %s', async (_, error, problem) => {
    expect(await answerInTime({ clock }, () => Promise.reject(error as Error))).toEqual({ problem });
  });

  it('returns a problem after the limit, and ends what it asked', async () => {
    let end: AbortSignal | undefined;
    const found = await answerInTime({ clock, timeoutMs: 40 }, (signal) => {
      end = signal;
      return new Promise(() => undefined);
    });
    expect([found, end?.aborted]).toEqual([{ problem: 'no answer within 0.04 s' }, true]);
  });
});
