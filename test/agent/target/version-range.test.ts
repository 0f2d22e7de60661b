import { describe, expect, it } from 'vitest';
import { compareVersions, isVersionInRange } from '../../../src/agent/target/version-range.ts';

describe('compareVersions', () => {
  it.each([
    ['1.9', '1.10', -1],
    ['1.10.2', '1.9.9', 1],
    ['1.2', '1.2.0', 0],
    ['1.0.0-rc.1', '1.0.0', -1],
    ['1.0.0-rc.2', '1.0.0-rc.10', -1],
    ['1.0.0', '1.0.0-rc.1', 1],
    ['v2', 'v1', 1],
  ])('compares %s with %s', (a, b, expected) => {
    expect(compareVersions(a, b)).toBe(expected);
  });
});

describe('isVersionInRange', () => {
  it.each([
    ['1.5', {}, true],
    ['1.5', { minVersion: '1.5' }, true],
    ['1.4.9', { minVersion: '1.5' }, false],
    ['1.6', { maxVersion: '1.5.9' }, false],
    ['1.5.1', { minVersion: '1.5', maxVersion: '1.6' }, true],
  ])('%s in %j is %s', (version, range, expected) => {
    expect(isVersionInRange(version, range)).toBe(expected);
  });
});
