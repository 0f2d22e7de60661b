/** The packs are written by hand: git would not write most of them, but a server could send them. */
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { checkPackSizes } from '../../../../src/sync/git/http/pack-sizes.ts';

const BLOB = 3;
const OFFSET_DELTA = 6;
const REFERENCE_DELTA = 7;
const LIMITS = { maxObjects: 3, maxBytes: 1000 };

interface Entry {
  readonly type: number;
  readonly size: number;
  /** Between the header and the content. */
  readonly base?: Buffer;
  readonly content: Buffer;
}

function packOf(entries: readonly Entry[], count = entries.length): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  header.writeUInt32BE(count, 8);
  const parts = entries.map(({ type, size, base, content }) =>
    Buffer.concat([headerOf(type, size), base ?? Buffer.alloc(0), deflateSync(content)]),
  );
  return Buffer.concat([header, ...parts, Buffer.alloc(20)]);
}

function headerOf(type: number, size: number): Buffer {
  const rest = varint(Math.floor(size / 16));
  const more = size >= 16;
  return Buffer.from([(type << 4) | (size % 16) | (more ? 0x80 : 0), ...(more ? rest : [])]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
}

function blob(content: string, size = content.length): Entry {
  return { type: BLOB, size, content: Buffer.from(content) };
}

function delta(type: number, base: Buffer, result: number): Entry {
  const content = Buffer.from([...varint(40), ...varint(result), 0x90, 40]);
  return { type, size: content.length, base, content };
}

describe('checkPackSizes', () => {
  it('accepts a pack within its limits, with objects and deltas', () => {
    const entries = [blob('x'.repeat(300)), delta(OFFSET_DELTA, Buffer.from([0x81, 0x05]), 200)];
    const pack = packOf([...entries, delta(REFERENCE_DELTA, Buffer.alloc(20, 0xff), 400)]);
    expect(() => checkPackSizes(pack, LIMITS)).not.toThrow();
  });

  it.each<[what: string, pack: Buffer, code: string]>([
    ['more objects than allowed', packOf([], 4), 'TooLarge'],
    ['a blob that announces 6 GiB, before it is inflated', packOf([blob('', 6 * 2 ** 30)]), 'TooLarge'],
    [
      'a delta whose result is larger than any object',
      packOf([delta(OFFSET_DELTA, Buffer.of(5), 2 ** 31)]),
      'TooLarge',
    ],
    ['more bytes than allowed in total', packOf([blob('x'.repeat(600)), blob('y'.repeat(600))]), 'TooLarge'],
    [
      'more bytes than allowed in a delta',
      packOf([blob('x'), delta(OFFSET_DELTA, Buffer.of(5), 1001)]),
      'TooLarge',
    ],
    ['a blob that is larger than it announces', packOf([blob('x'.repeat(900), 10)]), 'Corrupt'],
    ['an unknown type of object', packOf([{ ...blob('x'), type: 5 }]), 'Corrupt'],
    ['fewer objects than it announces', packOf([blob('x')], 2), 'Corrupt'],
    ['another signature', Buffer.alloc(100), 'Corrupt'],
    ['nothing', Buffer.alloc(0), 'Corrupt'],
  ])('refuses a pack with %s', (_, pack, code) => {
    expect(() => checkPackSizes(pack, LIMITS)).toThrow(expect.objectContaining({ code }) as Error);
  });
});
