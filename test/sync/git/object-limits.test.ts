import { describe, expect, it } from 'vitest';
import { checkObjectSize } from '../../../src/sync/git/object-limits.ts';

const MIB = 1024 * 1024;

describe('checkObjectSize', () => {
  it.each([
    ['commit', MIB],
    ['tag', MIB],
    ['tree', 16 * MIB],
    ['blob', 64 * MIB],
  ] as const)('allows a %s of %d bytes, and refuses one more', (type, bytes) => {
    expect(() => checkObjectSize('object x', type, bytes)).not.toThrow();
    expect(() => checkObjectSize('object x', type, bytes + 1)).toThrow(
      `object x: a ${type} of ${bytes + 1} bytes, more than ${bytes}`,
    );
  });
});
