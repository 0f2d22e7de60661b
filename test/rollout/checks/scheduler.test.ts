import { describe, expect, it } from 'vitest';
import type { Check } from '../../../src/api/generated/types.ts';
import type { CheckAnswer } from '../../../src/rollout/checks/gate.ts';
import { askedDigest } from '../../../src/rollout/checks/gate.ts';
import { createCheckScheduler } from '../../../src/rollout/checks/scheduler.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { checkOf } from '../builders.ts';

const ASKED = askedDigest(checkOf({ name: 'errors' }));
const SUBJECT = { name: 'prod-1' };

describe('the check scheduler', () => {
  it('dates a result by the start of its run, so that it does not count for a target that settled later', async () => {
    const clock = virtualClock();
    const startedAt = clock.now();
    const { promise, resolve } = Promise.withResolvers<CheckAnswer>();
    const scheduler = createCheckScheduler({ run: () => promise }, clock, () => undefined);
    scheduler.start(checkOf({ name: 'errors' }), SUBJECT);
    await clock.advance(9000);
    resolve({ result: 'Passed', message: 'none' });
    await scheduler.idle();
    expect(scheduler.results('prod-1')).toEqual([
      { check: 'errors', asked: ASKED, at: startedAt, result: 'Passed', message: 'none' },
    ]);
  });

  it('runs a check once at a time, and drops results that are recorded', async () => {
    const clock = virtualClock();
    let runs = 0;
    const runner = { run: () => Promise.resolve<CheckAnswer>({ result: 'Failed', message: `${++runs}` }) };
    const scheduler = createCheckScheduler(runner, clock, () => undefined);
    scheduler.start(checkOf({ name: 'errors' }), SUBJECT);
    scheduler.start(checkOf({ name: 'errors' }), SUBJECT);
    await scheduler.idle();
    expect(scheduler.results('prod-1').map(({ message }) => message)).toEqual(['1']);
    scheduler.drop('prod-1', 'errors', clock.now());
    expect(scheduler.results('prod-1')).toEqual([]);
    scheduler.start(checkOf({ name: 'errors' }), SUBJECT);
    await scheduler.idle();
    scheduler.forget('prod-1');
    expect(scheduler.results('prod-1')).toEqual([]);
  });

  it('ROL-22 repeats no run that the caller has not read yet, and runs what asks something else', async () => {
    const clock = virtualClock();
    let runs = 0;
    const runner = { run: () => Promise.resolve<CheckAnswer>({ result: 'Failed', message: `${++runs}` }) };
    const scheduler = createCheckScheduler(runner, clock, () => undefined);
    const check = checkOf({ name: 'errors' });
    const settledAt = clock.now();
    const runsAfter = async (asked: Check, known: Date): Promise<number> => {
      scheduler.start(asked, SUBJECT, known);
      await scheduler.idle();
      return runs;
    };
    expect(await runsAfter(check, new Date(+settledAt - 1))).toBe(1);
    await clock.advance(29_999);
    // Recorded and dropped, but the caller reads from before.
    scheduler.drop('prod-1', 'errors', clock.now());
    expect(await runsAfter(check, new Date(+settledAt - 1))).toBe(1);
    // The next batch was settled just now.
    expect(await runsAfter(check, settledAt)).toBe(2);
    const other: Check = { ...check, http: { url: 'https://app.example.com/', expectStatus: 200 } };
    expect(await runsAfter(other, settledAt)).toBe(3);
    await clock.advance(30_000);
    expect(await runsAfter(other, settledAt)).toBe(4);
    scheduler.forget('prod-1');
    expect(await runsAfter(other, settledAt)).toBe(5);
  });
});
