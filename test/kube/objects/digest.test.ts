import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byCode, canonicalJson, digestOf } from '../../../src/kube/objects/digest.ts';
import { isRecord } from '../../../src/kube/objects/json.ts';

describe('canonicalJson', () => {
  it.each<[string, unknown, string]>([
    ['sorts keys at every depth', { b: { d: 1, c: 2 }, a: 3 }, '{"a":3,"b":{"c":2,"d":1}}'],
    ['keeps the order of lists', [2, 1, { b: 1, a: 2 }], '[2,1,{"a":2,"b":1}]'],
    ['drops undefined and keeps null', { a: undefined, b: null }, '{"b":null}'],
    ['treats __proto__ as a key', JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
  ])('%s', (_, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('gives the same text whatever the order of the keys', () => {
    const record = fc.dictionary(fc.constantFrom('a', 'b', 'ab', '10', '9', ''), fc.integer());
    fc.assert(
      fc.property(record, (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed());
        expect(canonicalJson({ inner: reversed })).toBe(canonicalJson({ inner: value }));
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
    );
  });
});

/** The same by a replacer, which is slower. */
function replacedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!isRecord(inner)) return inner;
    const result = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(inner).toSorted(byCode)) result[key] = inner[key];
    return result;
  });
}

describe('canonicalJson beside a replacer of JSON.stringify', () => {
  it('gives the same text for any value', () => {
    const key = fc.oneof(fc.string(), fc.constantFrom('10', '9', '1a', '__proto__', 'toJSON'));
    const withDate = { withDate: true, withNullPrototype: true, withMap: true, withSparseArray: true };
    fc.assert(
      fc.property(fc.anything({ key, ...withDate }), (value) => {
        expect(canonicalJson({ inner: [value] })).toBe(replacedJson({ inner: [value] }));
      }),
    );
  });
});

describe('digestOf', () => {
  it('does not depend on the order of keys', () => {
    expect(digestOf({ a: 1, b: 2 })).toBe(digestOf({ b: 2, a: 1 }));
  });

  it('has the form that the kinds accept as a digest', () => {
    expect(digestOf({})).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});

describe('byCode', () => {
  it('sorts by code unit, whatever the locale', () => {
    expect(['ä', 'b', 'B', 'a'].toSorted(byCode)).toEqual(['B', 'a', 'b', 'ä']);
  });
});
