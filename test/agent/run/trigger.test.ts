import { describe, expect, it } from 'vitest';
import { createReconcileTrigger } from '../../../src/agent/run/trigger.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const TIMES = { minMs: 100, maxMs: 1000 };
const NEVER = new AbortController().signal;

describe('the trigger of the loop', () => {
  it.each<[string, readonly number[], string]>([
    ['nothing changed', [], 'Elapsed after 1000'],
    ['a change in between', [400], 'Changed after 400'],
    ['changes before the shortest wait', [0, 20, 50], 'Changed after 100'],
  ])('%s: %s', async (_, changes, expected) => {
    const clock = virtualClock();
    const trigger = createReconcileTrigger(clock);
    const ended = trigger.wait(TIMES, NEVER).then((reason) => `${reason} after ${clock.monotonicMs()}`);
    for (const atMs of changes) {
      await clock.advance(atMs - clock.monotonicMs());
      trigger.notify();
    }
    await clock.advance(1000 - clock.monotonicMs());
    expect(await ended).toBe(expected);
  });

  it('takes a change for the next wait only once', async () => {
    const clock = virtualClock();
    const trigger = createReconcileTrigger(clock);
    trigger.notify();
    const first = trigger.wait(TIMES, NEVER);
    await clock.advance(100);
    expect(await first).toBe('Changed');
    const second = trigger.wait(TIMES, NEVER);
    await clock.advance(1000);
    expect(await second).toBe('Elapsed');
  });
});
