import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { kubeletTarget } from '../../../../src/controllers/machine/peers/target.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { machine, node } from '../../../support/builders.ts';

type Addresses = NonNullable<NonNullable<NonNullable<Machine['status']>['infra']>['addresses']>;

const internal = (address: string): Addresses => [{ type: 'InternalIP', address }];

function instance(addresses: Addresses, imported?: string): Machine {
  const access = imported === undefined ? {} : { import: { address: imported } as never };
  return machine('m', { spec: access, status: { infra: { addresses } } });
}

/** A Node with what its kubelet wrote. */
function nodeWith(status: object): KubeObject {
  return { ...node('m'), status };
}

function shown(object: Machine, its?: KubeObject): string | undefined {
  const target = kubeletTarget(object, its);
  return target && `${target.address} ${target.port}`;
}

describe('kubeletTarget', () => {
  it.each<[what: string, object: Machine, expected: string | undefined]>([
    ['the address of the provider', instance(internal('10.0.0.7')), '10.0.0.7 10250'],
    [
      'the internal address, not the public one',
      instance([{ type: 'ExternalIP', address: '203.0.113.7' }, ...internal('10.0.0.7')]),
      '10.0.0.7 10250',
    ],
    ['no public address', instance([{ type: 'ExternalIP', address: '203.0.113.7' }]), undefined],
    ['an address of IPv6', instance(internal('fd00::7')), 'fd00::7 10250'],
    ['the address of its import', instance([], '10.0.0.8'), '10.0.0.8 10250'],
    ['the address of the provider before it', instance(internal('10.0.0.7'), '10.0.0.8'), '10.0.0.7 10250'],
    ['no name', instance([], 'host-7.example'), undefined],
    ['nothing without an address', machine('m'), undefined],
  ])('R20 has peers connect to %s', (_, object, expected) => {
    expect(shown(object)).toBe(expected);
  });

  it.each([
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fe80::1%eth0',
    'fd00::7%eth0',
    'ff02::1',
    '2130706433',
    '0x7f.1',
    '',
  ])('R20 never has a peer connect to %j, which is another host for each of them or none', (address) => {
    expect(kubeletTarget(instance(internal(address)), undefined)).toBeUndefined();
    expect(kubeletTarget(instance([], address), undefined)).toBeUndefined();
  });

  it('R20 has no peer connect to an address that a kubelet wrote to its own Node', () => {
    const addresses = [{ type: 'InternalIP', address: '10.9.9.9' }];
    expect(kubeletTarget(machine('m'), nodeWith({ addresses }))).toBeUndefined();
    expect(shown(instance(internal('10.0.0.7')), nodeWith({ addresses }))).toBe('10.0.0.7 10250');
  });

  it.each<[port: unknown, expected: number]>([
    [10_260, 10_260],
    [1, 1],
    [65_535, 65_535],
    [0, 10_250],
    [65_536, 10_250],
    [-1, 10_250],
    [10.5, 10_250],
    ['10260', 10_250],
    [undefined, 10_250],
  ])('R20 takes the port of the kubelet from its Node: %j', (Port, expected) => {
    const its = nodeWith({ daemonEndpoints: { kubeletEndpoint: { Port } } });
    expect(shown(instance(internal('10.0.0.7')), its)).toBe(`10.0.0.7 ${expected}`);
  });
});
