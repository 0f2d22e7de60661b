import { describe, expect, it } from 'vitest';
import { LEASES, readLeaseRecord } from '../../../src/kube/leader/record.ts';
import type { HeldTerm } from '../../../src/kube/leader/renewal.ts';
import type { LeaseOptions } from '../../../src/kube/leader/settings.ts';
import { LeaseLost } from '../../../src/kube/leader/term.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../src/kube/process/metrics-runtime.ts';
import {
  acquire,
  createBreakableClient,
  createLeaseBed,
  createSlowClient,
  LEASE_NAME,
  never,
  UNREACHABLE,
} from '../../support/kube/lease-bed.ts';
import type { ObjectServer } from '../../support/kube/object-server.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { settle, type VirtualClock } from '../../support/virtual-clock.ts';

const LOST_MS = 10_000_000;

describe('a term', () => {
  it('is renewed every two seconds and keeps its epoch', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    const before = server.version();
    await clock.advance(600_000);
    expect(server.version() - before).toBe(300);
    expect(term.held()).toBe(true);
    expect(readLeaseRecord(server.object(LEASES, LEASE_NAME) ?? fail()).epoch).toBe(1);
  });

  it('ends ten seconds after the last renewal was sent, with a metric', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const metrics = createMetrics();
    const link = createBreakableClient(server);
    const term = await acquire(
      candidate('a', { client: link.client, metrics: createRuntimeMetrics(metrics).lease }),
      clock,
    );
    await clock.advance(4000);
    link.broken = UNREACHABLE;
    await clock.advance(9999);
    expect(term.held()).toBe(true);
    expect(term.leftMs()).toBe(1);
    await clock.advance(1);
    expect(term.held()).toBe(false);
    expect(() => term.fence()).toThrow(LeaseLost);
    await clock.advance(1);
    expect(term.lost.reason).toMatchObject({ code: 'LeaseLost', because: 'expired' });
    expect(await metrics.text()).toContain('kubenode_lease_held{lease="system/controllers"} 0');
    expect(await metrics.text()).toContain('because="expired"} 1');
  });

  it('is not held right after a suspension, before any timer runs', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const link = createBreakableClient(server);
    const term = await acquire(candidate('a', { client: link.client }), clock);
    link.broken = UNREACHABLE;
    const stalled = clock.stall(60_000);
    expect(clock.monotonicMs()).toBe(60_000);
    expect(term.held()).toBe(false);
    expect(() => term.fence()).toThrow(LeaseLost);
    await stalled;
    await clock.advance(1);
    expect(term.lost.aborted).toBe(true);
  });

  it('continues after a suspension when a renewal succeeds', async () => {
    const { clock, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    await clock.stall(60_000);
    expect({ held: term.held(), lost: term.lost.aborted }).toEqual({ held: true, lost: false });
  });

  it('is not held after the machine slept and only its wall clock advanced', async () => {
    const { clock, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    clock.jumpWall(10_000);
    expect(term.held()).toBe(false);
  });

  it('counts from when a renewal is sent, not from its answer', async () => {
    const { clock, server, candidate } = createLeaseBed();
    let waitMs = 3000;
    const client = createSlowClient(server, () => clock.sleep(waitMs));
    const term = await acquire(candidate('a', { client }), clock, 3000);
    expect(term.leftMs()).toBe(7000);
    // Due at two seconds, so sent with the answer at three; answered at six.
    await clock.advance(3000);
    expect(term.leftMs()).toBe(7000);
    waitMs = 0;
    await clock.advance(3000);
  });

  it.each<[answers: string, delayMs: (n: number) => number, isHeld: boolean]>([
    ['each after 1 s', () => 1000, true],
    ['each after 4.5 s', () => 4500, true],
    ['each after 7.9 s', () => 7900, true],
    ['each after 8.1 s', () => 8100, false],
    ['one after 9.9 s', (n) => (n === 3 ? 9900 : 10), true],
    ['one never', (n) => (n === 3 ? LOST_MS : 10), true],
    ['three never, and then each after 1.9 s', (n) => (n < 3 ? LOST_MS : 1900), true],
    ['three never, and then each after 2.1 s', (n) => (n < 3 ? LOST_MS : 2100), false],
    ['every second one never, the others after 5.9 s', (n) => (n % 2 ? LOST_MS : 5900), true],
  ])('when answers come %s is held for a minute or not, and never longer than proven', async (...row) => {
    const [, delayMs, isHeld] = row;
    const { clock, server, candidate } = createLeaseBed();
    const late = createLateClient(server, clock, delayMs);
    const term = await acquire(candidate('a', { client: late.client }), clock);
    const unproven: number[] = [];
    for (let step = 0; step < 600; step += 1) {
      await clock.advance(100);
      const nowMs = clock.monotonicMs();
      if (term.held() && nowMs - Math.max(0, ...late.provenMs) >= 10_000) unproven.push(nowMs);
    }
    expect(unproven).toEqual([]);
    expect(term.held()).toBe(isHeld);
    late.isQuick = true;
  });

  it('continues until the latest proof when answers arrive in another order', async () => {
    const { clock, server, candidate } = createLeaseBed();
    // Sent at 2 s and answered at 9 s, sent at 4 s and answered at 5 s; then none.
    const late = createLateClient(server, clock, (n) => [7000, 1000][n] ?? LOST_MS);
    const term = await acquire(candidate('a', { client: late.client }), clock);
    await clock.advance(9500);
    expect(late.provenMs).toEqual([4000, 2000]);
    expect(term.leftMs()).toBe(4500);
    late.isQuick = true;
  });

  it('sends no more renewals than the time of a term permits when none is answered', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const late = createLateClient(server, clock, () => LOST_MS);
    await acquire(candidate('a', { client: late.client }), clock);
    await clock.advance(60_000);
    expect(late.sent).toBe(5);
    late.isQuick = true;
  });

  it('ends in time even when the wall clock is set back', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const link = createBreakableClient(server);
    const term = await acquire(candidate('a', { client: link.client }), clock);
    link.broken = UNREACHABLE;
    clock.jumpWall(-3_600_000);
    await clock.advance(10_000);
    expect(term.held()).toBe(false);
  });

  it('stays held when the wall clock is set back', async () => {
    const { clock, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    clock.jumpWall(-3_600_000);
    await clock.advance(60_000);
    expect(term.held()).toBe(true);
  });

  it('survives an event loop that is blocked for nine seconds', async () => {
    const { clock, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    for (let n = 0; n < 5; n += 1) {
      await clock.stall(9000);
      expect(term.held()).toBe(true);
    }
    expect(term.lost.aborted).toBe(false);
  });

  it('stays ended when the answer to a renewal arrives too late', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const answer = Promise.withResolvers<void>();
    let hold = false;
    const client = createSlowClient(server, () => (hold ? answer.promise : undefined));
    const term = await acquire(candidate('a', { client }), clock);
    hold = true;
    await clock.advance(10_002);
    expect(term.lost.aborted).toBe(true);
    answer.resolve();
    await clock.advance(1);
    expect(term.held()).toBe(false);
  });

  it('reads an answer that has already arrived before it ends', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const answer = Promise.withResolvers<void>();
    let hold = false;
    const client = createSlowClient(server, () => (hold ? answer.promise : undefined));
    const term = await acquire(candidate('a', { client }), clock);
    hold = true;
    // Sent at two seconds, so valid until twelve; the known deadline is at ten.
    await clock.advance(10_000);
    expect(term.held()).toBe(false);
    expect(term.lost.aborted).toBe(false);
    answer.resolve();
    await clock.advance(1);
    expect(term.held()).toBe(true);
  });

  it('is released even when a renewal is in flight', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const answer = Promise.withResolvers<void>();
    let hold = false;
    const client = createSlowClient(server, () => (hold ? answer.promise : undefined));
    const term = await acquire(candidate('a', { client }), clock);
    hold = true;
    await clock.advance(2000);
    const released = term.release();
    expect(term.held()).toBe(false);
    await settle();
    answer.resolve();
    await released;
    expect(server.object(LEASES, LEASE_NAME)).not.toHaveProperty(['spec', 'holderIdentity']);
  });

  it('ends at once when another process took it', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const log = memoryLog();
    const term = await acquire(candidate('a', { log }), clock);
    const object = await server.get(LEASES, LEASE_NAME);
    await server.replace(LEASES, {
      ...object,
      spec: { holderIdentity: 'b', leaseDurationSeconds: 15, leaseTransitions: 2 },
    });
    await clock.advance(2000);
    expect(term.lost.reason).toMatchObject({ because: 'taken' });
    await term.release();
    expect(server.object(LEASES, LEASE_NAME)).toMatchObject({ spec: { holderIdentity: 'b' } });
    expect(log.lines.map(({ message }) => message)).toEqual(['lease acquired', 'lease lost']);
  });

  it('ends at once when another process with our identity took it', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    const object = await server.get(LEASES, LEASE_NAME);
    await server.replace(LEASES, {
      ...object,
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 2 },
    });
    await clock.advance(2000);
    expect(term.lost.reason).toMatchObject({ because: 'taken' });
  });

  it('ends when the Lease is deleted, and the next holder waits for its duration and continues its epochs', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    const campaign = candidate('b').campaign(never);
    await clock.advance(3000);
    server.remove(LEASES, LEASE_NAME);
    await clock.advance(2000);
    expect(term.lost.reason).toMatchObject({ because: 'deleted' });
    await clock.advance(9000);
    expect(server.object(LEASES, LEASE_NAME)).toBeUndefined();
    await clock.advance(6000);
    const next = await campaign;
    expect(next.epoch).toBe(2);
    await next.release();
  });

  it('survives labels that other clients set on the Lease', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    for (let n = 0; n < 10; n += 1) {
      const object = await server.get(LEASES, LEASE_NAME);
      await server.replace(LEASES, { ...object, metadata: { ...object.metadata, labels: { n: String(n) } } });
      await clock.advance(1500);
    }
    expect(term.held()).toBe(true);
    expect(server.object(LEASES, LEASE_NAME)).toMatchObject({ metadata: { labels: { n: '9' } } });
  });

  it('lets the next candidate acquire at once after a release, with a higher epoch', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    const campaign = candidate('b').campaign(never);
    await clock.advance(5000);
    await term.release();
    expect(term.lost.reason).toMatchObject({ because: 'released' });
    expect(server.object(LEASES, LEASE_NAME)).not.toHaveProperty(['spec', 'holderIdentity']);
    await clock.advance(2000);
    const next = await campaign;
    expect(next.epoch).toBe(2);
    await next.release();
  });

  it('is independent of other terms in the same process', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const link = createBreakableClient(server);
    const terms: HeldTerm[] = [];
    for (let n = 0; n < 100; n += 1) {
      const name = { ...LEASE_NAME, name: `cluster-${n}` };
      terms.push(await acquire(candidate('a', { name, client: n === 42 ? link.client : server }), clock));
    }
    link.broken = UNREACHABLE;
    await clock.advance(60_000);
    expect(terms.flatMap((term, n) => (term.held() ? [] : n))).toEqual([42]);
    link.broken = undefined;
  });

  it('leaves no timer after its end', async () => {
    const { clock, candidate } = createLeaseBed();
    const term = await acquire(candidate('a'), clock);
    await clock.advance(3000);
    await term.release();
    await term.release();
    expect(clock.sleepers).toBe(0);
  });

  it('is released without an error when the server is unreachable', async () => {
    const { clock, server, candidate } = createLeaseBed();
    const log = memoryLog();
    const link = createBreakableClient(server);
    const term = await acquire(candidate('a', { client: link.client, log }), clock);
    link.broken = UNREACHABLE;
    await term.release();
    expect(log.lines.map(({ message }) => message)).toContain('lease release failed');
  });
});

function fail(): never {
  throw new Error('the lease is not there');
}

/** Answers to renewals that come late. */
function createLateClient(
  server: ObjectServer,
  clock: VirtualClock,
  delayMs: (n: number) => number,
): { client: LeaseOptions['client']; sent: number; isQuick: boolean; readonly provenMs: number[] } {
  const late = {
    sent: 0,
    isQuick: false,
    /** When the renewals were sent whose answers have arrived. */
    provenMs: [] as number[],
    client: {
      ...server,
      patch: async (...args: Parameters<LeaseOptions['client']['patch']>) => {
        const sentMs = clock.monotonicMs();
        const answer = await server.patch(...args);
        late.sent += 1;
        if (!late.isQuick) await clock.sleep(delayMs(late.sent - 1));
        late.provenMs.push(sentMs);
        return answer as never;
      },
    },
  };
  return late;
}
