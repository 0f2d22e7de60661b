import { describe, expect, it } from 'vitest';
import { poolRows } from '../../../../src/cli/commands/pool/rows.ts';
import { formatClaim, type HostClaim } from '../../../../src/providers/ssh/pool/claim.ts';
import { type PooledHost } from '../../../../src/providers/ssh/pool/host.ts';
import { readPool } from '../../../../src/providers/ssh/pool/pool.ts';
import { hosts, poolObject } from '../../../providers/ssh/pool/bed.ts';

const POOL = poolObject('rack7', { hosts: hosts(3, (index) => ({ zone: index === 0 ? 'a' : 'b' })) });
const [FIRST, SECOND, THIRD] = readPool('rack7', [POOL]).hosts as [PooledHost, PooledHost, PooledHost];
const AT = new Date('2030-01-01T00:00:00Z');

function claim(
  machine: string,
  host: PooledHost,
  state: HostClaim['state'] = 'Claimed',
): ReturnType<typeof formatClaim> {
  const tags = { clusterUid: 'c', machineUid: `uid-${machine}` };
  return formatClaim({ machine, tags, state, claimedAt: AT, host });
}

describe('poolRows', () => {
  it('shows each host, with the Machine that has it', () => {
    const leases = [claim('n1', FIRST), claim('n2', SECOND, 'Unclean'), claim('n0', THIRD, 'Deleted')];
    const rows = poolRows([POOL], leases).hosts.map(({ host, state, machine, since }) => [
      host,
      state,
      machine,
      since,
    ]);
    expect(rows).toEqual([
      ['10.0.0.1:22', 'Claimed', 'n1', AT.toISOString()],
      ['10.0.0.2:22', 'Unclean', 'n2', AT.toISOString()],
      ['10.0.0.3:22', 'Free', undefined, undefined],
    ]);
  });

  it('shows a host that no pool lists any more, while a Machine has it', () => {
    const { hosts: rows } = poolRows([], [claim('n1', FIRST)]);
    expect(rows).toEqual([expect.objectContaining({ host: '10.0.0.1:22', state: 'Claimed', machine: 'n1' })]);
    expect(rows[0]).not.toHaveProperty('pool');
  });

  it('names what cannot be read, and does not call a host free whose claim is damaged', () => {
    const broken = poolObject('rack8', { hosts: [{ address: 'n 1' }] });
    const damaged = { ...claim('n1', FIRST), metadata: { ...claim('n1', FIRST).metadata, annotations: {} } };
    const { hosts: rows, problems } = poolRows([POOL, broken], [damaged]);
    expect(rows.map(({ state }) => state)).toEqual(['Unknown', 'Free', 'Free']);
    expect(problems).toEqual([
      expect.stringContaining('ConfigMap rack8: n 1'),
      expect.stringContaining('Lease kubenode-hosts/machine-uid-n1 is not a claim'),
    ]);
  });
});
