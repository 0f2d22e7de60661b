import { describe, expect, it } from 'vitest';
import { createTurns } from '../../../src/console/server/turns.ts';

describe('createTurns', () => {
  it('runs some at once, lets some wait in their order, and refuses the others', async () => {
    const turns = createTurns({ atOnce: 1, maxWaiting: 2 });
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    const running = turns.run(async () => await first.promise);
    const waiting = ['a', 'b'].map((name) => turns.run(() => Promise.resolve(void order.push(name))));
    expect(turns.run(() => Promise.resolve())).toBeUndefined();
    first.resolve();
    await Promise.all([running, ...waiting]);
    expect(order).toEqual(['a', 'b']);
  });

  it('gives a turn on after work that failed', async () => {
    const turns = createTurns({ atOnce: 1, maxWaiting: 1 });
    const failed = turns.run(() => Promise.reject(new Error('refused')));
    const next = turns.run(() => Promise.resolve('done'));
    await expect(failed).rejects.toThrow('refused');
    expect(await next).toBe('done');
  });
});
