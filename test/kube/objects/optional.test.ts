import { describe, expect, it } from 'vitest';
import { optional } from '../../../src/kube/objects/optional.ts';

describe('optional', () => {
  it('omits a field without a value, and keeps every other value', () => {
    expect({ ...optional('a', undefined) }).toStrictEqual({});
    expect({ ...optional('a', 0), ...optional('b', ''), ...optional('c', false) }).toStrictEqual({
      a: 0,
      b: '',
      c: false,
    });
  });
});
