import { describe, expect, it } from 'vitest';
import {
  claimName,
  formatClaim,
  formatHostLock,
  type HostClaim,
  holderOfHost,
  hostLockName,
  isHostLock,
  parseClaim,
} from '../../../../src/providers/ssh/pool/claim.ts';
import { type PooledHost } from '../../../../src/providers/ssh/pool/host.ts';
import { readPool } from '../../../../src/providers/ssh/pool/pool.ts';
import { hosts, poolObject } from './bed.ts';

const [HOST] = readPool('rack7', [poolObject('rack7', { hosts: hosts(1) })]).hosts as [PooledHost];
const CLAIM: HostClaim = {
  machine: 'n1',
  tags: { clusterUid: 'c', machineUid: 'uid-1', set: 'storage' },
  state: 'Claimed',
  claimedAt: new Date('2030-01-01T00:00:00Z'),
  host: HOST,
};

describe('a claim', () => {
  it('is read as it was written', () => {
    expect(parseClaim(formatClaim(CLAIM))).toEqual(CLAIM);
    expect(parseClaim(formatClaim({ ...CLAIM, pool: 'rack7' }))).toEqual({ ...CLAIM, pool: 'rack7' });
    const { host: _, ...without } = CLAIM;
    expect(parseClaim(formatClaim({ ...without, state: 'Deleted' }))).toEqual({
      ...without,
      state: 'Deleted',
    });
  });

  it.each<[string, object]>([
    ['another label', { labels: { 'kubenode.dev/host-claim': 'Host' } }],
    ['no label', { labels: {} }],
    ['no record', { annotations: {} }],
    ['a record that is not JSON', { annotations: { 'kubenode.dev/host-claim': '{' } }],
    [
      'a state of another version',
      { annotations: { 'kubenode.dev/host-claim': '{"machine":"n1","state":"Lost"}' } },
    ],
  ])('is not read from a Lease with %s', (_, metadata) => {
    const object = formatClaim(CLAIM);
    expect(parseClaim({ ...object, metadata: { ...object.metadata, ...metadata } })).toBeUndefined();
  });
});

describe('the lock of a host', () => {
  it('names its Machine, and is not a claim', () => {
    const lock = formatHostLock(HOST, CLAIM);
    expect([isHostLock(lock), holderOfHost(lock), parseClaim(lock)]).toEqual([true, 'uid-1', undefined]);
    expect(isHostLock(formatClaim(CLAIM))).toBe(false);
  });

  it('has one name for a host, in whatever form it is written', () => {
    const name = hostLockName({ ...HOST, address: 'N1.example.com.' });
    expect(hostLockName({ ...HOST, address: 'n1.example.com' })).toBe(name);
    expect(hostLockName({ ...HOST, address: 'n1.example.com', port: 2022 })).not.toBe(name);
    expect([name, claimName('uid-1')].every((each) => /^[a-z0-9-]{1,63}$/.test(each))).toBe(true);
  });
});
