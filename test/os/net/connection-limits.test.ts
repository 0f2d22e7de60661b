import { describe, expect, it } from 'vitest';
import {
  admitConnection,
  clientAddress,
  type OpenConnection,
} from '../../../src/os/net/connection-limits.ts';

const LIMITS = { total: 6, perAddress: 3, reserved: 2 };

/** `a!` is a connection of address a that is served. */
function connections(text: string): OpenConnection[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((word) => ({ address: word.replace('!', ''), isServed: word.endsWith('!') }));
}

describe('admitConnection', () => {
  it.each<[name: string, open: string, isKnown: boolean, expected: string]>([
    ['admits the first one', '', false, 'admit'],
    ['admits up to the share of an address', 'a! a!', false, 'admit'],
    ['refuses more of an address whose connections are all served', 'a! a! a!', true, 'refuse'],
    ['closes the oldest one of the address that sends nothing', 'b a! a a', true, 'a at 2'],
    ['keeps the last places for known addresses', 'b! b! c! c!', false, 'refuse'],
    ['admits a known address there', 'b! b! c! c!', true, 'admit'],
    [
      'closes the oldest one that sends nothing when the places for all are taken',
      'b! c b c',
      false,
      'c at 1',
    ],
    ['refuses a known address when all places are served', 'b! b! b! c! c! c!', true, 'refuse'],
    ['closes the oldest one that sends nothing for a known address', 'b! b! b! c! c c', true, 'c at 4'],
  ])('%s', (_, text, isKnown, expected) => {
    const open = connections(text);
    const admission = admitConnection({ address: 'a', isKnown }, open, LIMITS);
    const shown =
      typeof admission === 'string'
        ? admission
        : `${admission.replace.address} at ${open.indexOf(admission.replace)}`;
    expect(shown).toBe(expected);
  });
});

describe('clientAddress', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:aaaa::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8::aaaa:bbbb', '2001:db8:0:0'],
    ['2001:db8:1::', '2001:db8:1:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '::1'],
    ['::ffff:10.1.2.3', '::ffff:10.1.2.3'],
    [undefined, 'unknown'],
  ])('takes %s for the client %s', (remote, client) => {
    expect(clientAddress(remote)).toBe(client);
  });
});
