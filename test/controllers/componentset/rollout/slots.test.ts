import { describe, expect, it } from 'vitest';
import { availabilityLimit, pickMembers } from '../../../../src/controllers/componentset/rollout/slots.ts';
import { member } from './rollout-input.ts';

describe('availabilityLimit', () => {
  const members = [
    member('a'),
    member('b', { serves: false }),
    member('c', { serves: false, isEstablished: false }),
    member('d', { step: 'InWork' }),
  ];

  it('ROL-11 counts every machine that was in service and is not now', () => {
    expect(availabilityLimit({ maxUnavailable: 3 }, members)).toEqual({
      slots: 1,
      reason: 'TooManyUnavailable',
      because: 'machines unavailable: 2, allowed: 3',
      blocker: { kind: 'Machine', name: 'b' },
    });
  });

  it('ROL-11 takes a percentage of all members, and has no slot below zero', () => {
    expect(availabilityLimit({ maxUnavailable: '50%' }, members).slots).toBe(0);
    expect(availabilityLimit({ maxUnavailable: 0 }, members).slots).toBe(-2);
  });
});

describe('pickMembers', () => {
  const candidates = [
    member('a'),
    member('b', { serves: false }),
    member('c'),
    member('d', { serves: false }),
  ];

  it.each<[what: string, most: number, available: number, expected: string]>([
    ['no more than asked for', 2, 9, 'a b, 8 left'],
    ['those that serve while availability is left', 9, 1, 'a b d, 0 left'],
    ['those that do not serve at no cost', 9, 0, 'b d, 0 left'],
    ['none that serves when too many are out of service', 9, -1, 'b d, -1 left'],
    ['none', 0, 9, ', 9 left'],
  ])('ROL-11 picks machines in their given order: %s', (_what, most, available, expected) => {
    const { members, available: left } = pickMembers(candidates, most, available);
    expect(`${members.map(({ name }) => name).join(' ')}, ${left} left`).toBe(expected);
  });

  it.each<[what: string, available: number, expected: string]>([
    ['when the last is used', 1, 'a e, 0 left'],
    ['when none is left', 0, 'e, 0 left'],
    ['at no cost before that', 2, 'a b c e, 0 left'],
  ])(
    'ROL-11 lets a machine that does not serve wait like the others with preferUnhealthy false: %s',
    (_what, available, expected) => {
      const all = [...candidates, member('e', { serves: false, isEstablished: false })];
      const { members, available: left } = pickMembers(all, 9, available, { preferUnhealthy: false });
      expect(`${members.map(({ name }) => name).join(' ')}, ${left} left`).toBe(expected);
    },
  );
});
