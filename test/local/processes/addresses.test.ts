import { describe, expect, it } from 'vitest';
import {
  findAdvertisedAddress,
  firstAddress,
  listExternalAddresses,
  listServerAddresses,
  localUrl,
  type NetworkInterfaces,
} from '../../../src/local/processes/addresses.ts';

const EXTERNAL = ['192.0.2.2', '198.18.0.1', '2001:db8::2'];

describe('listExternalAddresses', () => {
  it('lists the addresses for other machines, IPv4 first', () => {
    const interfaces: NetworkInterfaces = {
      lo: [v4('127.0.0.1', true), v6('::1', true)],
      eth0: [v6('2001:db8::2'), v4('192.0.2.2'), v6('fe80::1', false, 2)],
      bridge: [v4('198.18.0.1')],
    };
    expect(listExternalAddresses(interfaces)).toEqual(EXTERNAL);
  });

  it('is empty on a machine without a network', () => {
    expect(listExternalAddresses({ lo: [v4('127.0.0.1', true)] })).toEqual([]);
  });
});

it.each([
  ['10.96.0.0/16', '10.96.0.1'],
  ['10.96.7.9/16', '10.96.0.1'],
  ['192.168.255.128/25', '192.168.255.129'],
  ['255.255.255.0/24', '255.255.255.1'],
])('firstAddress of %s is %s', (range, address) => {
  expect(firstAddress(range)).toBe(address);
});

describe('a server that listens on', () => {
  it.each<[string, readonly string[], string | undefined, string]>([
    ['127.0.0.1', [], undefined, 'https://127.0.0.1:6443'],
    ['::1', [], undefined, 'https://[::1]:6443'],
    ['0.0.0.0', EXTERNAL, '192.0.2.2', 'https://127.0.0.1:6443'],
    ['::', EXTERNAL, '192.0.2.2', 'https://127.0.0.1:6443'],
    ['198.18.0.1', ['198.18.0.1'], '198.18.0.1', 'https://198.18.0.1:6443'],
    ['2001:db8::2', ['2001:db8::2'], undefined, 'https://[2001:db8::2]:6443'],
  ])('has the right addresses and URL: %s', (bindAddress, serverAddresses, advertised, url) => {
    expect(listServerAddresses(bindAddress, EXTERNAL)).toEqual(serverAddresses);
    expect(findAdvertisedAddress(bindAddress, EXTERNAL)).toBe(advertised);
    expect(localUrl(bindAddress, 6443)).toBe(url);
  });

  it('advertises no address on a machine without a network', () => {
    expect(findAdvertisedAddress('0.0.0.0', [])).toBeUndefined();
  });
});

function v4(address: string, internal = false): NonNullable<NetworkInterfaces[string]>[number] {
  return { address, internal, family: 'IPv4', netmask: '', mac: '', cidr: null };
}

function v6(address: string, internal = false, scopeid = 0): NonNullable<NetworkInterfaces[string]>[number] {
  return { address, internal, family: 'IPv6', netmask: '', mac: '', cidr: null, scopeid };
}
