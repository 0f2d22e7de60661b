import { describe, expect, it } from 'vitest';
import { bmcReason, readBmc } from '../../../../src/providers/ssh/pool/bmc.ts';
import { readPool } from '../../../../src/providers/ssh/pool/pool.ts';
import { poolObject } from './bed.ts';

const BMC = {
  address: 'https://10.4.8.3',
  credentialsRef: { name: 'rack7-bmc' },
  certificateFingerprint: `SHA256:${'A'.repeat(43)}`,
};

describe('the BMC of a host of a pool', () => {
  it('is part of the host', () => {
    const { hosts, problems } = readPool('rack7', [
      poolObject('rack7', { hosts: [{ address: '10.4.7.3', bmc: { ...BMC, system: '1', note: 'x' } }] }),
    ]);
    expect([hosts[0]?.bmc, problems]).toEqual([{ ...BMC, system: '1' }, []]);
  });

  it('may be missing', () => {
    expect([bmcReason(undefined), readBmc(undefined)]).toEqual([undefined, undefined]);
  });

  it.each<[string, unknown, string]>([
    ['no object', 'bmc1', 'expected an object as bmc'],
    ['http', { ...BMC, address: 'http://10.4.8.3' }, 'bmc.address'],
    ['a path', { ...BMC, address: 'https://10.4.8.3/redfish' }, 'bmc.address'],
    ['no fingerprint', { ...BMC, certificateFingerprint: undefined }, 'bmc.certificateFingerprint'],
    ['no Secret', { ...BMC, credentialsRef: {} }, 'bmc.credentialsRef.name'],
    ['a path as system', { ...BMC, system: '../Managers/1' }, 'bmc.system'],
    ['a number as UUID', { ...BMC, systemUUID: 7 }, 'bmc.systemUUID'],
    ['a long address', { ...BMC, address: `https://${'a'.repeat(300)}` }, 'bmc.address'],
  ])('with %s is refused by name', (_, value, reason) => {
    expect(bmcReason(value)).toContain(reason);
  });
});
