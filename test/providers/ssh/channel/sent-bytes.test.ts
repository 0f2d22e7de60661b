import { describe, expect, it } from 'vitest';
import { createSentBytes } from '../../../../src/providers/ssh/channel/sent-bytes.ts';
import { eventually } from '../../../support/eventually.ts';

const MIB = 1024 ** 2;

describe('createSentBytes', () => {
  it('collects young objects each time that 4 MiB were sent', () => {
    const calls: unknown[] = [];
    const sent = createSentBytes((options) => void calls.push(options));
    sent.add(4 * MIB - 1);
    expect(calls).toEqual([]);
    sent.add(1);
    sent.add(3 * MIB);
    expect(calls).toEqual([{ type: 'minor' }]);
    sent.add(MIB);
    expect(calls).toHaveLength(2);
  });

  it('frees buffers that are not used any more', async () => {
    const sent = createSentBytes();
    // What tests before this one left may be collected while the buffers are allocated: such a round shows no growth.
    const before = await eventually(async () => {
      sent.add(4 * MIB);
      const start = process.memoryUsage().arrayBuffers;
      dropBuffers();
      return process.memoryUsage().arrayBuffers - start > 15 * MIB ? start : undefined;
    }, 'the buffers are not counted');
    const freed = async (): Promise<true | undefined> => {
      sent.add(4 * MIB);
      return process.memoryUsage().arrayBuffers - before < 4 * MIB || undefined;
    };
    expect(await eventually(freed, 'the buffers are not freed')).toBe(true);
  });
});

function dropBuffers(): void {
  for (let index = 0; index < 64; index += 1) Buffer.alloc(MIB / 4);
}
