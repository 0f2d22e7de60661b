import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/rollout/check-runner.ts';
import { checkDesk } from '../../src/rollout/check-scheduler.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { checkOf } from '../sync/promote/small-world.ts';

const ABOUT = { cluster: 'prod-1', health: undefined };

describe('the desk of the checks', () => {
  it('dates an answer by its question: what was asked before a target settled does not count for that target', async () => {
    const clock = virtualClock();
    const asked = clock.now();
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const desk = checkDesk({ run: () => promise }, clock, () => undefined);
    desk.begin(checkOf({ name: 'errors' }), ABOUT);
    await clock.advance(9000);
    resolve({ result: 'Passed', message: 'none' });
    await desk.idle();
    expect(desk.runsOf('prod-1')).toEqual([
      { check: 'errors', at: asked, result: 'Passed', message: 'none' },
    ]);
  });

  it('asks once at a time, and forgets what is counted', async () => {
    const clock = virtualClock();
    let asked = 0;
    const runner = { run: () => Promise.resolve<Answer>({ result: 'Failed', message: `${++asked}` }) };
    const desk = checkDesk(runner, clock, () => undefined);
    desk.begin(checkOf({ name: 'errors' }), ABOUT);
    desk.begin(checkOf({ name: 'errors' }), ABOUT);
    await desk.idle();
    expect(desk.runsOf('prod-1').map(({ message }) => message)).toEqual(['1']);
    desk.counted('prod-1', 'errors', clock.now());
    expect(desk.runsOf('prod-1')).toEqual([]);
  });
});
