import { describe, expect, it } from 'vitest';
import { runConcurrently, tryAll } from '../../../src/kube/process/run-concurrently.ts';

const items = Array.from({ length: 30 }, (_, index) => index);

describe('runConcurrently', () => {
  it('returns the results in the order of the items, however long each one takes', async () => {
    const results = await runConcurrently(items, async (item) => {
      await new Promise((resolve) => setTimeout(resolve, (30 - item) % 5));
      return item * 2;
    });
    expect(results).toEqual(items.map((item) => item * 2));
  });

  it.each([
    [undefined, 8],
    [20, 20],
    [50, 30],
  ])('works on at most %s items at once: on %i of 30', async (atOnce, expected) => {
    let running = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    await runConcurrently(items, work, atOnce);
    expect(most).toBe(expected);
  });

  it('rejects with the first error after all started work has ended, and starts no further item', async () => {
    const started: number[] = [];
    let ended = 0;
    const work = runConcurrently(items, async (item) => {
      started.push(item);
      await new Promise((resolve) => setImmediate(resolve));
      ended += 1;
      if (item === 3) throw new Error('item 3 failed');
    });
    await expect(work).rejects.toThrow('item 3 failed');
    expect(ended).toBe(started.length);
    expect(started.length).toBeLessThan(items.length);
  });
});

describe('tryAll', () => {
  it('tries each item also after an error, and throws the first one in their order', async () => {
    const tried: number[] = [];
    const work = tryAll(items, async (item) => {
      tried.push(item);
      if (item === 3) await new Promise((resolve) => setImmediate(resolve));
      if (item === 3 || item === 5) throw new Error(`item ${item} failed`);
    });
    await expect(work).rejects.toThrow('item 3 failed');
    expect(tried).toEqual(items);
  });

  it('returns the results in the order of the items', async () => {
    expect(await tryAll([3, 1, 2], async (item) => item * 2)).toEqual([6, 2, 4]);
  });
});
