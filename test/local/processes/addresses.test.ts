import { describe, expect, it } from 'vitest';
import {
  advertisedAddress,
  answeringAddresses,
  type Interfaces,
  outsideAddresses,
  ownUrl,
} from '../../../src/local/processes/addresses.ts';

const OUTSIDE = ['192.0.2.2', '198.18.0.1', '2001:db8::2'];

describe('outsideAddresses', () => {
  it('are those that others can use, IPv4 first', () => {
    const interfaces: Interfaces = {
      lo: [v4('127.0.0.1', true), v6('::1', true)],
      eth0: [v6('2001:db8::2'), v4('192.0.2.2'), v6('fe80::1', false, 2)],
      bridge: [v4('198.18.0.1')],
    };
    expect(outsideAddresses(interfaces)).toEqual(OUTSIDE);
  });

  it('are none on a machine without a network', () => {
    expect(outsideAddresses({ lo: [v4('127.0.0.1', true)] })).toEqual([]);
  });
});

describe('a server that listens on', () => {
  it.each<[string, readonly string[], string | undefined, string]>([
    ['127.0.0.1', [], undefined, 'https://127.0.0.1:6443'],
    ['::1', [], undefined, 'https://[::1]:6443'],
    ['0.0.0.0', OUTSIDE, '192.0.2.2', 'https://127.0.0.1:6443'],
    ['::', OUTSIDE, '192.0.2.2', 'https://127.0.0.1:6443'],
    ['198.18.0.1', ['198.18.0.1'], '198.18.0.1', 'https://198.18.0.1:6443'],
    ['2001:db8::2', ['2001:db8::2'], undefined, 'https://[2001:db8::2]:6443'],
  ])('%s', (bindAddress, answering, advertised, url) => {
    expect(answeringAddresses(bindAddress, OUTSIDE)).toEqual(answering);
    expect(advertisedAddress(bindAddress, OUTSIDE)).toBe(advertised);
    expect(ownUrl(bindAddress, 6443)).toBe(url);
  });

  it('all addresses of a machine without a network advertises none', () => {
    expect(advertisedAddress('0.0.0.0', [])).toBeUndefined();
  });
});

function v4(address: string, internal = false): NonNullable<Interfaces[string]>[number] {
  return { address, internal, family: 'IPv4', netmask: '', mac: '', cidr: null };
}

function v6(address: string, internal = false, scopeid = 0): NonNullable<Interfaces[string]>[number] {
  return { address, internal, family: 'IPv6', netmask: '', mac: '', cidr: null, scopeid };
}
