import { describe, expect, it } from 'vitest';
import { ageSecondsAt, createTimePoints } from '../../../src/rules/clocks/time-point.ts';
import { ago, NOW } from '../../support/builders.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('a time on two clocks', () => {
  it('R2 is the time of the API server, also after our wall clock jumped and while the server does not answer', async () => {
    const clock = virtualClock();
    let skew: number | undefined = 0;
    const readTime = createTimePoints(clock, () => skew);
    await clock.advance(1000);
    clock.jumpWall(3_600_000);
    skew = 3600;
    expect(readTime()).toEqual({ ms: 1000, at: new Date(NOW.getTime() + 1000) });
    skew = undefined;
    expect(readTime()).toEqual({ ms: 1000, at: new Date(NOW.getTime() + 1000) });
  });

  it('R1 has no age of a timestamp that is missing or invalid, and no negative one', () => {
    const point = { ms: 0, at: NOW };
    const ages = [undefined, 'soon', ago(-60), ago(60)].map((text) => ageSecondsAt(point, text));
    expect(ages).toEqual([undefined, undefined, 0, 60]);
  });
});
