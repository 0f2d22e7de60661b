import { describe, expect, it } from 'vitest';
import {
  labelKeyReason,
  labelValueReason,
  nodeNameReason,
  objectNameReason,
} from '../../../src/api/validation/names.ts';

describe('nodeNameReason', () => {
  it.each(['n1', 'rack7-n03', 'n1.example.com', '10', 'a'.repeat(63)])('accepts %s', (name) => {
    expect(nodeNameReason(name)).toBeUndefined();
  });

  it.each(['', 'N1', 'n_1', '-n1', 'n1-', 'n1..x', 'n1\n', 'a'.repeat(64)])('refuses %j', (name) => {
    expect(nodeNameReason(name)).toMatch(/^expected /);
  });
});

describe('objectNameReason', () => {
  it('accepts longer names than those of Machines', () => {
    expect([objectNameReason('a'.repeat(253)), objectNameReason('a'.repeat(254))]).toEqual([
      undefined,
      'expected at most 253 characters',
    ]);
    expect(objectNameReason('SSH key')).toMatch(/^expected lower-case letters/);
  });
});

describe('the reasons of labels', () => {
  it.each(['a', 'example.com/pool', 'A_b.c'])('accept the key %s', (key) => {
    expect(labelKeyReason(key)).toBeUndefined();
  });

  it.each(['', '-a', '/a', 'A.com/x'])('refuse the key %j', (key) => {
    expect(labelKeyReason(key)).toMatch(/^expected /);
  });

  it.each([
    ['', undefined],
    ['a_B.c', undefined],
    ['-', 'expected letters'],
    ['x'.repeat(64), 'expected at most 63 characters'],
  ])('judge the value %j', (value, reason) => {
    expect(labelValueReason(value)?.slice(0, reason?.length)).toBe(reason);
  });
});
