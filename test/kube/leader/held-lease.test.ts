import { describe, expect, it } from 'vitest';
import { createHeldLease, type HeldLease } from '../../../src/kube/leader/held-lease.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { createObjectServer } from '../../support/kube/object-server.ts';
import { memoryLog } from '../../support/memory-log.ts';
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

  it('ends the term for one with a higher epoch when what it protects was written with a higher one', async () => {
    const { clock, hold, changes } = start();
    const lease = hold('first');
    await settle();
    expect(lease.epoch()).toBe(1);
    lease.raiseEpoch(7);
    expect([lease.epoch(), lease.notHeldReason()]).toEqual([
      undefined,
      'lease cluster-a is not acquired yet',
    ]);
    expect(lease.fence).toThrow('lease cluster-a is not acquired yet');
    await clock.advance(2000);
    expect(lease.epoch()).toBe(8);
    expect(lease.fence).not.toThrow();
    expect(changes).toHaveLength(3);
    lease.raiseEpoch(7);
    expect(lease.epoch()).toBe(8);
    await lease.close();
  });

  it('does not take the lease from another process to raise its epoch', async () => {
    const { clock, server, hold } = start();
    const [first, second] = [hold('first'), hold('second')];
    await settle();
    // Another process has taken it, and the first one has not noticed yet.
    const object = server.object(LEASES, NAME);
    const spec = { ...(object?.['spec'] as object), holderIdentity: 'second', leaseTransitions: 2 };
    await server.replace(LEASES, { ...object, spec } as never);
    first.raiseEpoch(2);
    await clock.advance(4000);
    expect(first.notHeldReason()).toBe('lease cluster-a is held by second');
    await Promise.all([first.close(), second.close()]);
  });
});

function start(): {
  readonly clock: ReturnType<typeof virtualClock>;
  readonly server: ReturnType<typeof createObjectServer>;
  readonly hold: (identity: string) => HeldLease;
  readonly changes: string[];
} {
  const clock = virtualClock();
  const server = createObjectServer();
  const changes: string[] = [];
  const hold = (identity: string): HeldLease =>
    createHeldLease({
      ...NAME,
      client: server,
      identity,
      clock,
      random: () => 0,
      log: memoryLog(),
      onChange: () => changes.push(identity),
    });
  return { clock, server, hold, changes };
}
