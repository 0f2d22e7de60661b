import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as der from '../../../src/os/x509/der.ts';

describe('DER', () => {
  it.each([
    ['zero', der.integer(Buffer.from([0])), '020100'],
    ['a leading zero before a set first bit', der.integer(Buffer.from([0x80])), '02020080'],
    ['no superfluous leading zeros', der.integer(Buffer.from([0, 0, 1])), '020101'],
    ['an arc above 127', der.objectId('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    ['a length above 127', der.octets(Buffer.alloc(200)).subarray(0, 3), '0481c8'],
    ['a length above 255', der.octets(Buffer.alloc(300)).subarray(0, 4), '0482012c'],
    ['a date before 2050', der.timestamp(new Date('2049-12-31T23:59:59Z')), `170d${hex('491231235959Z')}`],
    ['a date from 2050 on', der.timestamp(new Date('2050-01-01T00:00:00Z')), `180f${hex('20500101000000Z')}`],
  ])('encodes %s', (_, bytes, expected) => {
    expect(bytes.toString('hex')).toBe(expected);
  });

  it('encodes integers that decode to the same value', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (bytes) => {
        const [tag, length, ...content] = der.integer(bytes);
        expect(tag).toBe(2);
        expect(content).toHaveLength(length ?? -1);
        expect(valueOf(content)).toBe(valueOf([...bytes]));
        expect((content[0] ?? 0) & 0x80).toBe(0);
      }),
    );
  });
});

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}

function valueOf(bytes: readonly number[]): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}
