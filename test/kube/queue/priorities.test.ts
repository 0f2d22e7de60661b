import { describe, expect, it } from 'vitest';
import { type Priority } from '../../../src/kube/queue/priorities.ts';
import { createTestQueue, orderOf, takeAll } from '../../support/kube/queue-bed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('priorities', () => {
  it.each<[name: string, adds: [string, Priority][], want: string]>([
    [
      'urgent comes first',
      [
        ['b', 'background'],
        ['n', 'normal'],
        ['u', 'urgent'],
      ],
      'u n b',
    ],
    [
      'a key moves up',
      [
        ['n', 'normal'],
        ['x', 'background'],
        ['x', 'urgent'],
      ],
      'x n',
    ],
    [
      'a key never moves down',
      [
        ['x', 'urgent'],
        ['n', 'normal'],
        ['x', 'background'],
      ],
      'x n',
    ],
    [
      'within one, who came first',
      [
        ['a', 'normal'],
        ['b', 'normal'],
        ['a', 'normal'],
      ],
      'a b',
    ],
  ])('%s', async (_, adds, want) => {
    expect(await orderOf(adds)).toBe(want);
  });

  it('remove a key from the lane that it left', async () => {
    const queue = createTestQueue(virtualClock());
    queue.add('x', 'background');
    queue.add('x', 'urgent');
    await queue.take();
    queue.add('y', 'background');
    expect(await queue.take()).toBe('y');
  });

  it('starve no lane: every eighth key comes from a lane that was skipped', async () => {
    const queue = createTestQueue(virtualClock());
    queue.add('first', 'background');
    queue.add('second', 'background');
    for (let n = 0; n < 30; n += 1) queue.add(`u${n}`, 'urgent');
    const all = await takeAll(queue);
    expect(all.indexOf('first')).toBe(7);
    expect(all.indexOf('second')).toBe(15);
  });

  it('do not let a key that is added repeatedly crowd out the others', async () => {
    const queue = createTestQueue(virtualClock());
    for (const key of ['hot', 'a', 'b', 'c']) queue.add(key);
    const taken: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const key = String(await queue.take());
      taken.push(key);
      queue.add('hot');
      queue.done(key);
    }
    expect(taken.slice(0, 5)).toEqual(['hot', 'a', 'b', 'c', 'hot']);
  });
});
