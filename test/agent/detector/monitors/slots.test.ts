import { describe, expect, it } from 'vitest';
import { Slots } from '../../../../src/agent/detector/monitors/slots.ts';

describe('slots', () => {
  it('let at most so many run, in order, also after one failed', async () => {
    const slots = new Slots(2);
    const [running, most, order] = [new Set<number>(), { count: 0 }, [] as number[]];
    const work = async (number: number): Promise<void> => {
      running.add(number);
      most.count = Math.max(most.count, running.size);
      order.push(number);
      await Promise.resolve();
      running.delete(number);
      if (number === 1) throw new Error('failed');
    };
    await Promise.allSettled([0, 1, 2, 3, 4].map((number) => slots.run(() => work(number))));
    expect([most.count, order]).toEqual([2, [0, 1, 2, 3, 4]]);
  });
});
