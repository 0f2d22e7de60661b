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
    const blocked = delay.read();
    expect(blocked.max).toBeGreaterThan(0.1);
    expect(blocked.p50).toBeLessThanOrEqual(blocked.max);
    await sleep(30);
    expect(delay.read().max).toBeLessThan(blocked.max);
  });
});

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
