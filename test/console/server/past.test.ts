import { describe, expect, it } from 'vitest';
import { createPast, PAST_MS, type PastTimes } from '../../../src/console/server/past.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

function bed() {
  const clock = virtualClock();
  const asked: { readonly times: PastTimes; readonly cluster: string | undefined }[] = [];
  const past = createPast({
    clock,
    read: (times, cluster) => {
      asked.push({ times, cluster });
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

  it('CON-31 is kept for each range and each cluster on its own', async () => {
    const { asked, past } = bed();
    await past('1h', 'eu-1');
    await past('1h', 'us-1');
    await past('6h', 'eu-1');
    await past('1h', 'eu-1');
    expect(asked.map(({ cluster }) => cluster)).toEqual(['eu-1', 'us-1', 'eu-1']);
  });

  it('has times on a grid that does not move with the clock, and ends with the step of now', async () => {
    const { clock, asked, past } = bed();
    await clock.advance(61_000);
    const { at } = await past('6h');
    const times = asked[0]?.times;
    expect(times && [times.from % 180, times.to % 180, times.to - times.from]).toEqual([0, 0, 21_600]);
    expect(times && times.to >= at && times.to - at < 180).toBe(true);
  });
});
