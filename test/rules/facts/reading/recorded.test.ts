import { describe, expect, it } from 'vitest';
import { pickFields, uniteFields } from '../../../../src/rules/facts/reading/recorded.ts';

describe('uniteFields', () => {
  it('has the fields of all, and keeps whole what one of them keeps whole', () => {
    const one = { metadata: { name: true }, status: { facts: { disk: true } }, spec: true } as const;
    const other = { status: { facts: { probes: true } }, spec: { node: true }, metadata: true } as const;
    const merged = { metadata: true, status: { facts: { disk: true, probes: true } }, spec: true };
    expect(uniteFields(one, other)).toEqual(merged);
    expect(uniteFields(other, one)).toEqual(merged);
    expect(uniteFields()).toEqual({});
  });
});

describe('pickFields', () => {
  it('picks fields and those inside them, of each entry of a list, and nothing that is absent', () => {
    const object = { a: { b: 1, c: 2 }, list: [{ name: 'x', secret: 1 }, 7], whole: { d: [1] }, none: null };
    const fields = { a: { b: true }, list: { name: true }, whole: true, none: true, absent: true } as const;
    expect(pickFields(object, fields)).toEqual({ a: { b: 1 }, list: [{ name: 'x' }, 7], whole: { d: [1] } });
  });
});
