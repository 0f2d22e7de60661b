import { describe, expect, it } from 'vitest';
import type { CheckAnswer } from '../../../src/rollout/checks/runner.ts';
import { createCheckScheduler } from '../../../src/rollout/checks/scheduler.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { checkOf } from '../builders.ts';

const SUBJECT = { cluster: 'prod-1', health: undefined };

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
      { check: 'errors', at: startedAt, result: 'Passed', message: 'none' },
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
  });
});
