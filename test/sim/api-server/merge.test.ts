import { describe, expect, it } from 'vitest';
import { listByKey, recordType } from '../../../src/sim/api-server/field-types.ts';
import { mergeFields, withoutFields } from '../../../src/sim/api-server/merge.ts';

const TYPE = recordType({ parts: listByKey('name'), tags: { 'x-kubernetes-list-type': 'set' } });
const LIVE = { size: 1, args: ['x'], tags: ['a'], parts: [{ name: 'a', grade: 'x' }], deep: { er: 1 } };

describe('mergeFields', () => {
  it.each([
    ['fields', { size: 2, owner: 'us', none: undefined }, { ...LIVE, size: 2, owner: 'us' }],
    ['atomic lists as a whole', { args: ['y'] }, { ...LIVE, args: ['y'] }],
    ['sets', { tags: ['b', 'a'] }, { ...LIVE, tags: ['a', 'b'] }],
    [
      'entries by key',
      { parts: [{ name: 'b' }, { name: 'a', size: 1 }] },
      { ...LIVE, parts: [{ name: 'a', grade: 'x', size: 1 }, { name: 'b' }] },
    ],
    ['another type', { deep: 1 }, { ...LIVE, deep: 1 }],
  ])('merges %s', (_, applied, merged) => {
    expect(mergeFields(LIVE, applied, TYPE)).toStrictEqual(merged);
  });

  it('returns the same value where nothing changes', () => {
    expect(mergeFields(LIVE, structuredClone(LIVE), TYPE)).toBe(LIVE);
    expect(mergeFields(LIVE, {}, TYPE)).toBe(LIVE);
  });
});

describe('withoutFields', () => {
  it.each([
    ['a field', { 'f:size': {} }, { ...LIVE, size: undefined }],
    ['what becomes empty', { 'f:deep': { 'f:er': {} } }, { ...LIVE, deep: undefined }],
    ['the last value of a set', { 'f:tags': { 'v:"a"': {} } }, { ...LIVE, tags: undefined }],
    [
      'an entry',
      { 'f:parts': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } },
      { ...LIVE, parts: undefined },
    ],
    [
      'a field of an entry',
      { 'f:parts': { 'k:{"name":"a"}': { 'f:grade': {} } } },
      { ...LIVE, parts: [{ name: 'a' }] },
    ],
    ['nothing that is missing', { 'f:parts': { 'k:{"name":"z"}': { '.': {} } } }, LIVE],
  ])('removes %s', (_, fields, left) => {
    expect(withoutFields(LIVE, fields, TYPE)).toEqual(left);
  });
});
