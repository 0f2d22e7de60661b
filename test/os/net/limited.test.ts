import { describe, expect, it } from 'vitest';
import { readBegin, readLimited } from '../../../src/os/net/limited.ts';

/** Pieces of three bytes, without an end or so many of them. */
function pieces(count = Number.POSITIVE_INFINITY): {
  readonly body: AsyncIterable<Uint8Array>;
  readonly sent: () => number;
  readonly isEnded: () => boolean;
} {
  let [sent, isEnded] = [0, false];
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      for (; sent < count; sent += 1) yield Buffer.from('abc');
    } finally {
      isEnded = true;
    }
  }
  return { body: body(), sent: () => sent, isEnded: () => isEnded };
}

describe('readLimited', () => {
  it('reads as many bytes as the limit', async () => {
    expect((await readLimited(pieces(2).body, 6)).toString()).toBe('abcabc');
    expect(await readLimited(pieces(0).body, 0)).toHaveLength(0);
  });

  it('ends a body that is larger, with the first byte after the limit', async () => {
    const endless = pieces();
    await expect(readLimited(endless.body, 6)).rejects.toMatchObject({
      name: 'AnswerTooLarge',
      message: 'the answer is larger than 6 bytes',
    });
    expect([endless.sent(), endless.isEnded()]).toEqual([2, true]);
  });
});

describe('readBegin', () => {
  it('returns a body that is not larger as it is', async () => {
    expect((await readBegin(pieces(2).body, 6)).toString()).toBe('abcabc');
  });

  it('cuts a larger body at the limit, and ends it', async () => {
    const endless = pieces();
    expect((await readBegin(endless.body, 4)).toString()).toBe('abca');
    expect([endless.sent(), endless.isEnded()]).toEqual([1, true]);
  });
});
