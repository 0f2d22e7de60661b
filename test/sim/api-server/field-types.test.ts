import { expect, it } from 'vitest';
import { fillDefaults, listByKey, recordType } from '../../../src/sim/api-server/field-types.ts';

const TYPE = recordType({
  size: { default: 1 },
  deep: { default: {}, ...recordType({ er: { default: [] } }) },
  optional: recordType({ er: { default: 1 } }),
  parts: { ...listByKey('name'), items: recordType({ grade: { default: 'x' } }) },
  map: { additionalProperties: recordType({ er: { default: 1 } }) },
});

it('fills in what is missing, below defaults, in lists and in maps', () => {
  expect(fillDefaults({ size: 2, parts: [{ name: 'a' }], map: { a: {} } }, TYPE)).toEqual({
    size: 2,
    deep: { er: [] },
    parts: [{ name: 'a', grade: 'x' }],
    map: { a: { er: 1 } },
  });
});

it('returns the value itself where nothing is missing', () => {
  const whole = { size: 0, deep: { er: [1] }, other: null };
  expect(fillDefaults(whole, TYPE)).toBe(whole);
});
