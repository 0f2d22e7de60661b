import { describe, expect, it } from 'vitest';
import { createSilences, type Silences } from '../../../src/controllers/machine/agent-silence.ts';

/** When each of `count` agents that fall silent at `nowMs` is reported, in milliseconds after it. */
function waits(
  silences: Silences,
  count: number,
  { nowMs = 0, machines = 1000, prefix = 'm' } = {},
): number[] {
  return Array.from({ length: count }, (_, index) => silences.waitMs(`${prefix}-${index}`, nowMs, machines));
}

describe('createSilences', () => {
  it.each([
    ['a machine', 1, 1000, 0],
    ['a rack', 20, 1000, 0],
    ['one more than a rack', 21, 1000, 100],
    ['a fleet of 100', 100, 100, 16_000],
    ['a fleet of 1,000', 1000, 1000, 98_000],
    ['a fleet of 10,000', 10_000, 10_000, 99_800],
  ])('reports the last of %s within 100 s', (_, count, machines, want) => {
    expect(Math.max(...waits(createSilences(), count, { machines }))).toBeCloseTo(want, 3);
  });

  it('keeps the turn of each, and reports it until its silence ends', () => {
    const silences = createSilences();
    waits(silences, 21);
    expect([0, 60, 100, 500].map((nowMs) => silences.waitMs('m-20', nowMs, 1000))).toEqual([100, 40, 0, 0]);
  });

  it('keeps no turn for agents that came back', () => {
    const silences = createSilences();
    waits(silences, 1000);
    for (let index = 0; index < 1000; index += 1) silences.ended(`m-${index}`, 1000);
    const [next] = waits(silences, 1, { nowMs: 3000, prefix: 'next' });
    expect(next).toBe(0);
  });

  it('reports at most so many a second, when agents fall silent and come back again and again', () => {
    const silences = createSilences();
    const reported = new Set<string>();
    let count = 0;
    for (let nowMs = 0; nowMs < 600_000; nowMs += 1000) {
      for (let index = 0; index < 1000; index += 1) {
        const name = `m-${index}`;
        const isSilent = (Math.floor(nowMs / 1000) + index) % 70 < 60;
        if (!isSilent) {
          silences.ended(name, nowMs);
          reported.delete(name);
        } else if (silences.waitMs(name, nowMs, 1000) === 0 && !reported.has(name)) {
          reported.add(name);
          count += 1;
        }
      }
    }
    expect(count).toBeGreaterThan(600);
    expect(count).toBeLessThanOrEqual(20 + 600 * 10);
  });
});
