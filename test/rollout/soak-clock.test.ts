import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  excludeGap,
  MAX_GAP_MS,
  notAfter,
  type SoakRecord,
  soakEndsAt,
  stopSoak,
} from '../../src/rollout/soak-clock.ts';
import { later, NOW } from './builders.ts';

const at = (seconds: number): string => later(seconds).toISOString();
/** Settled at 0, last observed at 100 s, with one clock from 0 and one from 50 s. */
const RUNNING = {
  settledAt: at(0),
  observedAt: at(100),
  clocks: [{ since: at(0) }, { since: at(50) }],
  gates: [{ name: 'errors', ranAt: at(90) }],
} satisfies SoakRecord;

function starts({ clocks }: { readonly clocks?: readonly { readonly since: string }[] }): readonly number[] {
  return (clocks ?? []).map(({ since }) => (Date.parse(since) - +NOW) / 1000);
}

describe('soakEndsAt', () => {
  it.each<[name: string, soak: SoakRecord, expected: Date | undefined]>([
    ['is unknown before it settled', { clocks: RUNNING.clocks }, undefined],
    ['is the end of the last clock', RUNNING, later(110)],
    ['is not before it settled', { ...RUNNING, settledAt: at(500) }, later(500)],
    ['is the moment of settling without clocks', { settledAt: at(7) }, later(7)],
  ])('%s', (_, soak, expected) => {
    expect(soakEndsAt(soak, 60)).toEqual(expected);
  });
});

describe('excludeGap', () => {
  it.each<[name: string, seconds: number, expected: readonly number[]]>([
    ['counts no gap', 100, [0, 50]],
    ['counts a gap of two minutes', 220, [0, 50]],
    ['excludes the whole of a longer gap', 221, [121, 171]],
    ['moves with a clock that was set back', -900, [-1000, -950]],
  ])('%s', (_, seconds, expected) => {
    expect(starts(excludeGap(RUNNING, later(seconds)))).toEqual(expected);
  });

  it('moves check runs and the moment of settling with a clock that was set back, but not into the future', () => {
    expect(excludeGap(RUNNING, later(-900))).toMatchObject({
      settledAt: at(-1000),
      gates: [{ name: 'errors', ranAt: at(-910) }],
    });
    const future = { ...RUNNING, gates: [{ name: 'errors', ranAt: at(130) }] };
    expect(excludeGap(future, later(-900)).gates).toEqual([{ name: 'errors', ranAt: at(-900) }]);
  });
});

describe('stopSoak', () => {
  it('does not count the time until the next healthy observation, however short it is', () => {
    const stopped = stopSoak(RUNNING, later(130));
    const resumed = excludeGap(stopped, later(140));
    // 100 s and 50 s had been soaked at the last healthy observation.
    expect(starts(resumed).map((start) => 140 - start)).toEqual([100, 50]);
  });

  it('changes nothing while it is stopped already', () => {
    const stopped = stopSoak(RUNNING, later(130));
    expect(stopSoak(stopped, later(131))).toEqual(stopped);
  });

  it('never counts more time than before, whatever the clock does', () => {
    const seconds = fc.integer({ min: -1000, max: 1000 });
    fc.assert(
      fc.property(seconds, seconds, (stopAt, pause) => {
        const resumeAt = stopAt + Math.abs(pause);
        const resumed = excludeGap(stopSoak(RUNNING, later(stopAt)), later(resumeAt));
        for (const [index, start] of starts(resumed).entries()) {
          expect(resumeAt - start).toBeLessThanOrEqual([100, 50][index] ?? 0);
        }
      }),
    );
  });
});

describe('notAfter', () => {
  it('limits a recorded moment to now', () => {
    expect([notAfter(at(5), later(9)), notAfter(at(5), later(3))]).toEqual([at(5), at(3)]);
    expect(MAX_GAP_MS).toBe(120_000);
  });
});
