import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createByteQueue } from '../../../../src/sync/git/command/byte-queue.ts';

describe('createByteQueue', () => {
  it('gives lines and bytes in order, however they were split into chunks', () => {
    const text = 'one 3\nabc\ntwo 0\n\n';
    for (let size = 1; size <= text.length; size += 1) {
      const queue = createByteQueue();
      for (let at = 0; at < text.length; at += size) queue.push(Buffer.from(text.slice(at, at + size)));
      const taken = [
        queue.takeLine(),
        queue.take(3)?.toString(),
        queue.takeLine(),
        queue.takeLine(),
        queue.takeLine(),
      ];
      expect(taken).toEqual(['one 3', 'abc', '', 'two 0', '']);
    }
  });

  it('waits for the end of a line and for all bytes, and takes nothing before', () => {
    const queue = createByteQueue();
    queue.push(Buffer.from('half'));
    expect([queue.takeLine(), queue.take(5)]).toEqual([undefined, undefined]);
    queue.push(Buffer.from(' line\nrest'));
    expect([queue.takeLine(), queue.take(5), queue.take(4)?.toString()]).toEqual([
      'half line',
      undefined,
      'rest',
    ]);
    expect(queue.take(0)?.length).toBe(0);
  });

  it('SAF-5 joins the chunks of a large object once, not with every chunk', () => {
    const chunk = Buffer.alloc(1024, 'x');
    const concat = vi.spyOn(Buffer, 'concat');
    onTestFinished(() => concat.mockRestore());
    const queue = createByteQueue();
    const early: unknown[] = [];
    for (let n = 0; n < 1000; n += 1) {
      early.push(queue.take(1000 * chunk.length));
      queue.push(chunk);
    }
    expect(queue.take(1000 * chunk.length)).toHaveLength(1000 * chunk.length);
    expect(new Set(early)).toEqual(new Set([undefined]));
    expect(concat.mock.calls.map(([list]) => list.length)).toEqual([1000]);
  });
});
