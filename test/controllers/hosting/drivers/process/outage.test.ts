import { describe, expect, it } from 'vitest';
import { createOutageMeter } from '../../../../../src/controllers/hosting/drivers/process/outage.ts';
import { virtualClock } from '../../../../support/virtual-clock.ts';

describe('the measurement of an outage', () => {
  it('HOS-15 lasts from the begin of a change until the member answers, over its start and over crashes', async () => {
    const clock = virtualClock();
    const meter = createOutageMeter(clock);
    expect(meter.answered('a')).toBeUndefined();
    meter.begin('a', 'Change');
    await clock.advance(1000);
    meter.begin('a', 'Start');
    await clock.advance(2000);
    const outage = { endedAt: clock.now(), milliseconds: 3000, cause: 'Change' };
    expect(meter.answered('a')).toEqual(outage);
    await clock.advance(9000);
    expect(meter.answered('a')).toEqual(outage);
    expect(meter.answered('b')).toBeUndefined();
  });

  it('HOS-15 begins again with the next change, also when the former one has not ended', async () => {
    const clock = virtualClock();
    const meter = createOutageMeter(clock);
    meter.begin('a', 'Change');
    await clock.advance(60_000);
    meter.begin('a', 'Change');
    await clock.advance(500);
    expect(meter.answered('a')?.milliseconds).toBe(500);
    meter.begin('a', 'Start');
    await clock.advance(700);
    expect(meter.answered('a')).toMatchObject({ milliseconds: 700, cause: 'Start' });
  });
});
