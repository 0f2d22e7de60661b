import { describe, expect, it } from 'vitest';
import { isSameUuid, requireSameSystem } from '../../../src/providers/redfish/identity.ts';

const UUID = '27946b59-9e44-4fa7-8e91-f3527a1ef094';

describe('the UUID of a system', () => {
  it.each([
    ['is equal', UUID, true],
    ['is in upper case', UUID.toUpperCase(), true],
    ['has no dashes', UUID.replaceAll('-', ''), true],
    ['has the other byte order', '596b9427-449e-a74f-8e91-f3527a1ef094', true],
    ['is that of another host', '27946b59-9e44-4fa7-8e91-f3527a1ef095', false],
    ['has all bytes swapped', '596b9427-449e-a74f-918e-94f01e7a52f3', false],
    ['is empty', '', false],
    ['is not hex', 'Not Settable', false],
  ])('%s', (_, found, same) => {
    expect(isSameUuid(UUID, found)).toBe(same);
  });

  it('is no proof when neither is a UUID', () => {
    expect(isSameUuid('', '')).toBe(false);
    expect(isSameUuid('Not Settable', 'Not Settable')).toBe(false);
  });

  it('must be known: a system without one is another host', () => {
    expect(() => requireSameSystem(UUID, undefined)).toThrow('expected UUID 27946b59');
    expect(() => requireSameSystem(UUID, UUID)).not.toThrow();
  });
});
