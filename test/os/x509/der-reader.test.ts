import { describe, expect, it } from 'vitest';
import * as der from '../../../src/os/x509/der.ts';
import { readElement, readElements } from '../../../src/os/x509/der-reader.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('readElements', () => {
  it('reads what der.ts writes, of every length of a length', () => {
    for (const size of [0, 1, 127, 128, 255, 256, 70_000]) {
      const written = der.octets(Buffer.alloc(size, 7));
      const [element] = readElements(written);
      expect(element?.content).toHaveLength(size);
      expect(element?.bytes.equals(written)).toBe(true);
    }
    expect(
      readElements(Buffer.concat([der.utf8('a'), der.utf8('b')])).map(({ content }) => content.toString()),
    ).toEqual(['a', 'b']);
  });

  it.each([
    ['an indefinite length', '30 80 00 00'],
    ['a longer length than needed', '04 81 01 07'],
    ['a length with a leading zero', '04 82 00 81'],
    ['a length of four bytes', '04 84 00 00 00 01 07'],
    ['too little content', '04 02 07'],
    ['a length that is cut off', '04 82 01'],
    ['a tag of two bytes', '1f 01 01 07'],
    ['half an element', '04'],
  ])('refuses %s', (_, bytes) => {
    expect(() => readElements(hex(bytes))).toThrow('not valid DER');
  });
});

describe('readElement', () => {
  it('refuses bytes that are left over, and another tag', () => {
    expect(() => readElement(hex('04 01 07 00 00'), 0x04)).toThrow('not valid DER');
    expect(() => readElement(hex('04 01 07'), 0x30)).toThrow('not valid DER');
  });
});
