import { describe, expect, it } from 'vitest';
import { uncleanClaim } from '../../../../src/cli/commands/pool/free.ts';
import { formatClaim, type HostClaim, type StoredClaim } from '../../../../src/providers/ssh/pool/claim.ts';
import { type PooledHost } from '../../../../src/providers/ssh/pool/host.ts';
import { readPool } from '../../../../src/providers/ssh/pool/pool.ts';
import { hosts, poolObject } from '../../../providers/ssh/pool/bed.ts';

const POOL = poolObject('rack7', {
  hosts: [...hosts(2), { address: 'fd00::1' }, { address: 'n4', port: 2022 }],
});
const [FIRST, SECOND, V6, OTHER_PORT] = readPool('rack7', [POOL]).hosts as [
  PooledHost,
  PooledHost,
  PooledHost,
  PooledHost,
];

function stored(machine: string, host: PooledHost, state: HostClaim['state']): StoredClaim {
  const claim = {
    machine,
    tags: { clusterUid: 'c', machineUid: `uid-${machine}` },
    state,
    claimedAt: new Date(0),
    host,
  };
  return { claim, object: formatClaim(claim) };
}

const CLAIMS = {
  claims: [
    stored('n0', FIRST, 'Deleted'),
    stored('n1', FIRST, 'Unclean'),
    stored('n2', SECOND, 'Claimed'),
    stored('n3', V6, 'Unclean'),
    stored('n4', OTHER_PORT, 'Unclean'),
  ],
  unreadable: [{ lease: 'machine-uid-n5', host: '10.0.0.5:22' }],
};

describe('pool free', () => {
  it.each([
    ['10.0.0.1', 'n1'],
    ['10.0.0.1:22', 'n1'],
    ['fd00::1', 'n3'],
    ['N4:2022', 'n4'],
  ])('takes %s as the host that Machine %s has left', (host, machine) => {
    expect(uncleanClaim(host, CLAIMS).claim.machine).toBe(machine);
  });

  it.each([
    ['10.0.0.2', '10.0.0.2 belongs to Machine n2'],
    ['10.0.0.9', 'no Machine has left 10.0.0.9 behind'],
    ['n4', 'no Machine has left n4 behind'],
    ['10.0.0.5', 'it is not known who has 10.0.0.5'],
  ])('refuses %s', (host, message) => {
    expect(() => uncleanClaim(host, CLAIMS)).toThrow(message);
  });

  it('lists the hosts that wait for a person', () => {
    expect(() => uncleanClaim('x', CLAIMS)).toThrow(
      expect.objectContaining({ hint: 'use one of: 10.0.0.1:22, fd00::1:22, n4:2022' }),
    );
  });
});
