import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CallOutcome,
  createLimiter,
  type Limiter,
  type ReleaseSlot,
} from '../../../src/kube/transport/limiter.ts';
import { runs } from '../../support/sweep-size.ts';
import { settle, virtualClock } from '../../support/virtual-clock.ts';

const GOOD: CallOutcome = { overloaded: false };
const BUSY: CallOutcome = { overloaded: true };

/** Requests that many slots; the result has those that were acquired. */
function acquire(from: Limiter, count: number): ReleaseSlot[] {
  const placed: ReleaseSlot[] = [];
  for (let call = 0; call < count; call += 1) void from.acquire().then((release) => placed.push(release));
  return placed;
}

describe('createLimiter', () => {
  it('starts as many calls as there are slots, and the next one when a slot is released', async () => {
    const placed = acquire(createLimiter({ clock: virtualClock(), maxInFlight: 2 }), 4);
    await settle();
    expect(placed).toHaveLength(2);
    placed[0]?.(GOOD);
    await settle();
    expect(placed).toHaveLength(3);
  });

  it('releases a slot only once', async () => {
    const placed = acquire(createLimiter({ clock: virtualClock(), maxInFlight: 1 }), 3);
    await settle();
    placed[0]?.(GOOD);
    placed[0]?.(GOOD);
    await settle();
    expect(placed).toHaveLength(2);
  });

  it('keeps to its rate after the burst', async () => {
    const clock = virtualClock();
    const placed = acquire(createLimiter({ clock, rate: 10, burst: 3, maxInFlight: 100 }), 20);
    await settle();
    expect(placed).toHaveLength(3);
    await clock.advance(500);
    expect(placed).toHaveLength(8);
    await clock.advance(10_000);
    expect(placed).toHaveLength(20);
  });

  it('saves at most one burst while idle', async () => {
    const clock = virtualClock();
    const polite = createLimiter({ clock, rate: 10, burst: 3, maxInFlight: 100 });
    await clock.advance(60_000);
    const placed = acquire(polite, 20);
    await settle();
    expect(placed).toHaveLength(3);
  });

  it('halves its limit when the server is overloaded, once for all calls in flight', async () => {
    const clock = virtualClock();
    const polite = createLimiter({ clock, maxInFlight: 16 });
    const placed = acquire(polite, 16);
    await settle();
    await clock.advance(10);
    for (const release of placed) release(BUSY);
    expect(polite.inFlightLimit()).toBe(8);
    const second = acquire(polite, 1);
    await settle();
    await clock.advance(10);
    second[0]?.(BUSY);
    expect(polite.inFlightLimit()).toBe(4);
  });

  it('keeps at least one slot, and grows by one for each round of good answers', async () => {
    const clock = virtualClock();
    const polite = createLimiter({ clock, maxInFlight: 16 });
    for (let call = 0; call < 10; call += 1) {
      (await polite.acquire())(BUSY);
      await clock.advance(1);
    }
    expect(polite.inFlightLimit()).toBe(1);
    const rounds: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (let call = polite.inFlightLimit(); call > 0; call -= 1) (await polite.acquire())(GOOD);
      rounds.push(polite.inFlightLimit());
    }
    expect(rounds).toEqual([2, 2, 3, 4]);
  });

  it('respects Retry-After', async () => {
    const clock = virtualClock();
    const polite = createLimiter({ clock, maxInFlight: 4 });
    (await polite.acquire())({ overloaded: true, retryAfterSeconds: 5 });
    const placed = acquire(polite, 1);
    await clock.advance(4999);
    expect(placed).toHaveLength(0);
    await clock.advance(1);
    expect(placed).toHaveLength(1);
  });

  it('removes an aborted call from the queue', async () => {
    const clock = virtualClock();
    const polite = createLimiter({ clock, maxInFlight: 1 });
    const first = await polite.acquire();
    const giveUp = new AbortController();
    const waiting = polite.acquire(giveUp.signal).catch((error: unknown) => error);
    const placed = acquire(polite, 1);
    giveUp.abort(new Error('enough'));
    expect(await waiting).toMatchObject({ code: 'Aborted', cause: new Error('enough') });
    first(GOOD);
    await settle();
    expect(placed).toHaveLength(1);
    await expect(polite.acquire(AbortSignal.abort())).rejects.toMatchObject({ code: 'Aborted' });
  });

  it('never exceeds its limit, and serves every call in the end', async () => {
    const anyOutcomes = fc.array(fc.record({ overloaded: fc.boolean(), retryAfterSeconds: fc.nat(3) }), {
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(anyOutcomes, fc.integer({ min: 1, max: 8 }), async (outcomes, maxInFlight) => {
        const clock = virtualClock();
        const polite = createLimiter({ clock, maxInFlight, rate: 50, burst: 5 });
        const placed = acquire(polite, outcomes.length);
        for (const [index, outcome] of outcomes.entries()) {
          while (placed.length <= index) await clock.advance(20);
          expect(placed.length - index).toBeLessThanOrEqual(maxInFlight);
          placed[index]?.(outcome);
        }
        expect(placed).toHaveLength(outcomes.length);
        expect(clock.sleepers).toBe(0);
      }),
      runs(100, 2000),
    );
  });
});
