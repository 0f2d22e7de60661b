import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLoopDelay } from '../../../src/kube/process/loop-delay.ts';

describe('createLoopDelay', () => {
  it('measures a blocked event loop, and resets with each read', async () => {
    const delay = createLoopDelay(10);
    onTestFinished(() => delay.stop());
    await sleep(30);
    const end = performance.now() + 150;
    while (performance.now() < end);
    await sleep(30);
    await nextTick();
    const blocked = delay.read();
    expect(blocked.max).toBeGreaterThan(0.1);
    expect(blocked.p50).toBeLessThanOrEqual(blocked.max);
    await sleep(30);
    await nextTick();
    expect(delay.read().max).toBeLessThan(blocked.max);
  });
});

/** Waits for the native timer: Node runs several timers of JavaScript before it, when it was not scheduled for longer than they wait. */
async function nextTick(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
