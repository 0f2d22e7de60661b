import { describe, expect, it } from 'vitest';
import {
  isNewerMinor,
  minorAfter,
  minorOf,
  minorsBetween,
} from '../../../../../src/controllers/hosting/plan/upgrade/versions.ts';

describe('the comparison of versions', () => {
  it.each([
    ['v1.35.4', 'v1.36.3', 1],
    ['v1.36.3', 'v1.35.4', -1],
    ['v1.9.9', 'v1.10.0', 1],
    ['v1.36.0', 'v1.36.9', 0],
    ['v1.36.0', 'v2.36.0', 100],
  ])('counts the minor versions between %s and %s', (from, to, expected) => {
    expect(minorsBetween(from, to)).toBe(expected);
    expect(isNewerMinor(from, to)).toBe(expected > 0);
  });

  it('names the minor version, and the one after it', () => {
    expect(minorOf('v1.36.3')).toBe('1.36');
    expect(minorAfter('v1.9.3')).toBe('1.10');
  });
});
