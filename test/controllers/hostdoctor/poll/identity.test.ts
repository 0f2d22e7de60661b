import { describe, expect, it } from 'vitest';
import { eventIdentity, identityOnInstance } from '../../../../src/controllers/hostdoctor/poll/identity.ts';

describe('the identity of an announced event', () => {
  it.each([
    ['instance-event-0d59937288b749b32', 'aws-instance-event-0d59937288b749b32'],
    ['E-2ZE9S1A7K3B4', 'aws-e-2ze9s1a7k3b4'],
    ['f020ba2e-3bc0-4c40-a10b-86575a9eabd5', 'aws-f020ba2e-3bc0-4c40-a10b-86575a9eabd5'],
  ])('R39 is the id in lower case: %s', (eventID, name) => {
    expect(eventIdentity('aws', eventID)).toEqual({ name, eventID });
  });

  it.each(['', '-', 'a_b', 'a.b', 'a..b', '/etc/passwd', 'ä', 'x'.repeat(500), '-a-', 'A B\nC', '__proto__'])(
    'R39 is a name that the API server accepts, whatever the id is: %j',
    (eventId) => {
      const { name, eventID } = eventIdentity('alibaba', eventId);
      expect(name).toMatch(/^alibaba-[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
      expect(name.length).toBeLessThanOrEqual(253);
      expect(eventID.length).toBeGreaterThan(0);
      expect(eventID.length).toBeLessThanOrEqual(128);
      expect(identityOnInstance({ name, eventID }, 'i-1').name.length).toBeLessThanOrEqual(253);
    },
  );

  it('R39 differs for ids that look the same as part of a name', () => {
    const names = ['a_b', 'a.b', 'a b', 'a-b'].map((id) => eventIdentity('aws', id).name);
    expect(new Set(names).size).toBe(4);
  });

  it('R39 differs for two instances of one event', () => {
    const first = eventIdentity('azure', 'e-1');
    const names = ['i-1', 'i-2'].map((instance) => identityOnInstance(first, instance).name);
    expect(new Set([first.name, ...names]).size).toBe(3);
  });
});
