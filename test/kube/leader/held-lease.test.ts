import { describe, expect, it } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { createHeldLease, type HeldLease } from '../../../src/kube/leader/held-lease.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { objectServer } from '../../support/object-server.ts';
import { settle, virtualClock } from '../../support/virtual-clock.ts';

const NAME = { namespace: 'system', name: 'cluster-a' };

describe('createHeldLease', () => {
  it('names the holder until it acquires the lease, and releases it on close', async () => {
    const { clock, server, hold } = start();
    const first = hold('first');
    expect(first.notHeldReason()).toBe('lease cluster-a is not acquired yet');
    await settle();
    expect(first.notHeldReason()).toBeUndefined();
    const second = hold('second');
    await settle();
    expect(second.notHeldReason()).toBe('lease cluster-a is held by first');
    await first.close();
    expect(server.object(LEASES, NAME)).not.toHaveProperty(['spec', 'holderIdentity']);
    await clock.advance(2000);
    expect(second.notHeldReason()).toBeUndefined();
    await second.close();
  });

  it('acquires the lease again after it was lost, and reports each change', async () => {
    const { clock, server, hold, changes } = start();
    const lease = hold('first');
    await settle();
    server.remove(LEASES, NAME);
    await clock.advance(2000);
    expect(lease.notHeldReason()).toBeUndefined();
    expect(changes).toEqual(['first', 'first', 'first']);
    await lease.close();
    expect(clock.sleepers).toBe(0);
  });
});

function start(): {
  readonly clock: ReturnType<typeof virtualClock>;
  readonly server: ReturnType<typeof objectServer>;
  readonly hold: (identity: string) => HeldLease;
  readonly changes: string[];
} {
  const clock = virtualClock();
  const server = objectServer();
  const changes: string[] = [];
  const hold = (identity: string): HeldLease =>
    createHeldLease({
      ...NAME,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a Lease needs only get, create and replace
      client: server as unknown as Client,
      identity,
      clock,
      random: () => 0,
      log: memoryLog(),
      onChange: () => changes.push(identity),
    });
  return { clock, server, hold, changes };
}
