import { expect, it } from 'vitest';
import { createPacer, nextPieceMs } from '../../../../src/agent/host/download/pacer.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

it('lets the next piece follow when its time has come', async () => {
  const clock = virtualClock();
  const pacer = createPacer(clock, 1000);
  let passed = 0;
  const reading = (async () => {
    for (; passed < 3; passed += 1) await pacer.pass(500);
  })();
  await clock.advance(499);
  expect(passed).toBe(0);
  await clock.advance(1);
  expect(passed).toBe(1);
  await clock.advance(1000);
  expect(passed).toBe(3);
  await reading;
});

it('makes up for no time in which nothing arrived', () => {
  const dueMs = nextPieceMs(Number.NEGATIVE_INFINITY, 0, 500, 1000);
  expect(dueMs).toBe(500);
  expect(nextPieceMs(dueMs, 60_000, 500, 1000)).toBe(60_500);
});

it('ends with the download', async () => {
  const pacer = createPacer(virtualClock(), 1);
  const ended = new AbortController();
  const passing = pacer.pass(1000, ended.signal);
  ended.abort(new Error('stopped'));
  await expect(passing).rejects.toThrow('stopped');
});
