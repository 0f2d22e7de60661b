import { describe, expect, it } from 'vitest';
import { createPast, PAST_MS, type PastTimes, withoutContact } from '../../../src/console/server/past.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function bed() {
  const clock = virtualClock();
  const asked: PastTimes[] = [];
  const past = createPast({
    clock,
    read: (times) => {
      asked.push(times);
      return Promise.resolve({ lines: {}, missing: [] });
    },
  });
  return { clock, asked, past };
}

describe('the past', () => {
  it('CON-30 is asked for once in some seconds, however many people look at it', async () => {
    const { clock, asked, past } = bed();
    await Promise.all([past('1h'), past('1h'), past('1h')]);
    expect(asked.length).toBe(1);
    await clock.advance(PAST_MS - 1);
    await past('1h');
    expect(asked.length).toBe(1);
    await clock.advance(1);
    await past('1h');
    expect(asked.length).toBe(2);
  });

  it('is kept for each range on its own', async () => {
    const { asked, past } = bed();
    for (const range of ['1h', '6h', '1h'] as const) await past(range);
    expect(asked.map(({ step }) => step)).toEqual([30, 180]);
  });

  it('CON-31 has no line of sync beside a cluster without a hub', async () => {
    const lines = { ready: [3, 3], contact: [5, 5] };
    const missing = [{ field: 'contact', because: 'partial' }] as const;
    const read = withoutContact(() => Promise.resolve({ at: 60, from: 0, step: 30, lines, missing }));
    expect(await read('1h')).toMatchObject({ lines: { ready: [3, 3] }, missing: [] });
    expect(Object.keys((await read('1h')).lines)).toEqual(['ready']);
  });

  it('has times on a grid that does not move with the clock, and ends with the step of now', async () => {
    const { clock, asked, past } = bed();
    await clock.advance(61_000);
    const { at } = await past('6h');
    const [times] = asked;
    expect(times && [times.from % 180, times.to % 180, times.to - times.from]).toEqual([0, 0, 21_600]);
    expect(times && times.to >= at && times.to - at < 180).toBe(true);
  });
});
