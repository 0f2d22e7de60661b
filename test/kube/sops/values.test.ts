import { createCipheriv } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checksumText, decryptValue, SopsError } from '../../../src/kube/sops/values.ts';

const KEY = Buffer.alloc(32, 7);
const CONTEXT = 'data:password:';

function encrypt(text: string, type: string, nonce = Buffer.alloc(32, 1)): string {
  const cipher = createCipheriv('aes-256-gcm', KEY, nonce).setAAD(Buffer.from(CONTEXT));
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]).toString('base64');
  const [iv, tag] = [nonce.toString('base64'), cipher.getAuthTag().toString('base64')];
  return `ENC[AES256_GCM,data:${data},iv:${iv},tag:${tag},type:${type}]`;
}

describe('decryptValue', () => {
  it.each<[text: string, type: string, expected: unknown]>([
    ['secret', 'str', 'secret'],
    ['', 'str', ''],
    ['True', 'bool', true],
    ['false', 'bool', false],
    ['5432', 'int', 5432],
    ['-0.0000015', 'float', -0.0000015],
  ])('reads %s as %s', (text, type, expected) => {
    expect(decryptValue(encrypt(text, type), KEY, CONTEXT)).toBe(expected);
  });

  const FORMAT = 'it is not in the format of SOPS';
  const CHANGED = 'it was changed, or moved here from another field';

  it.each<[what: string, text: string, reason: string]>([
    ['a value of another key', encrypt('x', 'str').replace('data:', 'data:AAAA'), CHANGED],
    ['text', 'plain', FORMAT],
    ['text behind the value', `${encrypt('x', 'str')}x`, FORMAT],
    ['no tag', encrypt('x', 'str').replace(/tag:[^,]*/, 'tag:='), FORMAT],
    ['a short tag', encrypt('x', 'str').replace(/tag:[^,]*/, 'tag:AAAAAA=='), FORMAT],
    ['no nonce', encrypt('x', 'str').replace(/iv:[^,]*/, 'iv:='), FORMAT],
    ['a long nonce', encrypt('x', 'str', Buffer.alloc(65)), FORMAT],
    ['a time', encrypt('2024-01-01T00:00:00Z', 'time'), 'its type time is not supported'],
    ['an unknown boolean', encrypt('maybe', 'bool'), 'its type bool is not supported'],
    ['a large number', encrypt('9007199254740993', 'int'), 'JavaScript cannot represent exactly'],
    ['an infinite number', encrypt('1e999', 'float'), 'JavaScript cannot represent exactly'],
    ['an empty number', encrypt('', 'int'), 'JavaScript cannot represent exactly'],
  ])('refuses %s', (_, text, reason) => {
    expect(() => decryptValue(text, KEY, CONTEXT)).toThrow(reason);
  });

  it('refuses a value of another field, and a key of another length', () => {
    expect(() => decryptValue(encrypt('x', 'str'), KEY, 'data:user:')).toThrow(CHANGED);
    expect(() => decryptValue(encrypt('x', 'str'), KEY.subarray(16), CONTEXT)).toThrow(
      'a data key of 32 bytes',
    );
  });

  it('throws nothing but a SopsError, whatever the text is', () => {
    const anyPart = fc.oneof(fc.string(), fc.base64String());
    fc.assert(
      fc.property(
        anyPart,
        anyPart,
        anyPart,
        fc.constantFrom('str', 'int', '__proto__'),
        (data, iv, tag, type) => {
          const text = `ENC[AES256_GCM,data:${data},iv:${iv},tag:${tag},type:${type}]`;
          expect(() => decryptValue(text, KEY, CONTEXT)).toThrow(SopsError);
        },
      ),
    );
  });
});

describe('checksumText', () => {
  it.each<[value: string | number | boolean, expected: string]>([
    ['text', 'text'],
    [true, 'True'],
    [false, 'False'],
    [5432, '5432'],
    [2.5, '2.5'],
    [-0, '-0'],
    [0.0000015, '0.0000015'],
    [-1e-7, '-0.0000001'],
    [1e21, '1000000000000000000000'],
    [1.25e22, '12500000000000000000000'],
  ])('writes %s as SOPS does', (value, expected) => {
    expect(checksumText(value)).toBe(expected);
  });

  it('writes every number so that it is read as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(checksumText(value)).toMatch(/^-?\d+(\.\d+)?$/);
        expect(Number(checksumText(value))).toBe(value);
      }),
    );
  });
});
