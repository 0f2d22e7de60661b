import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextPieceMs } from '../../../src/agent/host/download/pacer.ts';
import { CONNECTION_BYTES, planPace, planRetry } from '../../../src/agent/install/pace.ts';

const MIB = 1024 ** 2;
const PIECE_BYTES = 64 * 1024;
const WINDOW_MS = 10_000;

describe('planPace', () => {
  it.each([
    [
      { bytesPerSecond: 125_000_000, agents: 1000 },
      { bytesPerSecond: 112_500, startWindowMs: 20_972 },
    ],
    [
      { bytesPerSecond: 1_000_000, agents: 1 },
      { bytesPerSecond: 900_000, startWindowMs: 2622 },
    ],
    [{ bytesPerSecond: 10, agents: 1000 }, { bytesPerSecond: 1 }],
  ])('of %o takes a part of its share', (declared, pace) => {
    expect(planPace(declared)).toMatchObject(pace);
    expect(planPace(declared).because).toBe(
      `${declared.agents} agents share ${declared.bytesPerSecond} bytes per second`,
    );
  });

  it.each([1, 2, 3])(
    'keeps 1,000 agents with one file of 100 MB within the bandwidth in every 10 seconds, seed %i',
    (seed) => {
      const declared = { bytesPerSecond: 125_000_000, agents: 1000 };
      const sent = sendToFleet({ ...declared, sizeBytes: 100_000_000, random: randomFrom(seed) });
      const total = sent.reduce((sum, bytes) => sum + bytes, 0);
      expect(total).toBe(100_000_000 * declared.agents);
      const allowed = declared.bytesPerSecond * (WINDOW_MS / 1000);
      expect(busiestWindow(sent)).toBeLessThanOrEqual(allowed);
      // It is used, too: a limit that is never approached would be kept by any plan.
      expect(busiestWindow(sent)).toBeGreaterThan(0.85 * allowed);
    },
  );

  it.each([
    { agents: 1, shareBytes: 50_000, sizeBytes: 20 * MIB },
    { agents: 300, shareBytes: 50_000, sizeBytes: 5 * MIB },
    { agents: 2, shareBytes: 5_000_000, sizeBytes: 20 * MIB },
    { agents: 300, shareBytes: 5_000_000, sizeBytes: 1 },
    { agents: 50, shareBytes: 123_456, sizeBytes: 300_000 },
  ])('keeps another fleet within its bandwidth: %o', ({ agents, shareBytes, sizeBytes }) => {
    const bytesPerSecond = agents * shareBytes;
    const sent = sendToFleet({ bytesPerSecond, agents, sizeBytes, random: randomFrom(1) });
    // The average does not hold for a few agents: the buffers of their connections may fall together.
    const slack = agents * (CONNECTION_BYTES + PIECE_BYTES);
    expect(busiestWindow(sent)).toBeLessThanOrEqual(bytesPerSecond * (WINDOW_MS / 1000) + slack);
  });
});

interface FleetDownload {
  readonly bytesPerSecond: number;
  readonly agents: number;
  readonly sizeBytes: number;
  readonly random: () => number;
}

/** What the server sends in each tenth of a second: ahead of each reader by what the buffers of its connection hold. */
function sendToFleet({ sizeBytes, random, ...declared }: FleetDownload): number[] {
  const { startWindowMs, bytesPerSecond } = planPace(declared);
  const sent: number[] = [];
  const send = (atMs: number, bytes: number): void => {
    const tick = Math.floor(atMs / 100);
    while (sent.length <= tick) sent.push(0);
    sent[tick] = (sent[tick] ?? 0) + bytes;
  };
  for (let agent = 0; agent < declared.agents; agent += 1) {
    let nowMs = startWindowMs * random();
    let ahead = Math.min(sizeBytes, CONNECTION_BYTES);
    send(nowMs, ahead);
    for (let [left, dueMs] = [sizeBytes - ahead, nowMs]; left > 0; nowMs = dueMs) {
      const piece = Math.min(PIECE_BYTES, left);
      dueMs = nextPieceMs(dueMs, nowMs, PIECE_BYTES, bytesPerSecond);
      send(dueMs, piece);
      left -= piece;
      ahead += piece;
    }
  }
  return sent;
}

function busiestWindow(sent: readonly number[]): number {
  const ticks = WINDOW_MS / 100;
  let [inWindow, most] = [0, 0];
  for (const [index, bytes] of sent.entries()) {
    inWindow += bytes - (sent[index - ticks] ?? 0);
    most = Math.max(most, inWindow);
  }
  return most;
}

/** The same numbers in each run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('planRetry', () => {
  it.each<[name: string, attempt: Partial<Parameters<typeof planRetry>[0]>, plan: string]>([
    ['a first failure', { failures: 1 }, 'Retry in 1000: attempt 1 failed'],
    ['a fourth failure', { failures: 4 }, 'Retry in 8000: attempt 4 failed'],
    ['a fifth failure', { failures: 5 }, 'Fail: it failed 5 times'],
    ['a request to wait', { retryAfterMs: 30_000 }, 'Retry in 45000: the server asked to wait 30 s'],
    ['a request to wait for no time', { retryAfterMs: 0 }, 'Retry in 1500: the server asked to wait 0 s'],
    [
      'a request to wait for a day',
      { retryAfterMs: 86_400_000 },
      'Retry in 5400000: the server asked to wait 3600 s',
    ],
    [
      'a request after an hour of requests',
      { retryAfterMs: 60_000, askedMs: 3_600_000 },
      'FailAfter in 90000: the server asked to wait 60 s',
    ],
  ])('after %s', (_name, attempt, expected) => {
    const plan = planRetry({ failures: 0, retryAfterMs: undefined, askedMs: 0, random: 0.5, ...attempt });
    const delay = plan.type === 'Fail' ? '' : ` in ${plan.delayMs}`;
    expect(`${plan.type}${delay}: ${plan.because}`).toBe(expected);
  });

  it('never returns before the time that a server asked for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3_600_000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (retryAfterMs, random) => {
          const plan = planRetry({ failures: 0, retryAfterMs, askedMs: 0, random });
          expect(plan.type === 'Fail' ? -1 : plan.delayMs).toBeGreaterThanOrEqual(retryAfterMs);
        },
      ),
    );
  });
});
