import { describe, expect, it } from 'vitest';
import { createOutageMeter } from '../../../../../../src/controllers/hosting/drivers/process/api-servers/outage.ts';
import { virtualClock } from '../../../../../support/virtual-clock.ts';

const API = { member: 'kube-apiserver', logFile: 'log' } as const;

describe('the measurement of an outage', () => {
  it('HOS-15 lasts from the begin of a change until the member answers, over its start and over crashes', async () => {
    const clock = virtualClock();
    const meter = createOutageMeter(clock);
    expect(meter.answered(API)).toBeUndefined();
    meter.begin(API, 'Change');
    await clock.advance(1000);
    meter.begin(API, 'Start');
    await clock.advance(2000);
    const outage = { endedAt: clock.now(), milliseconds: 3000, cause: 'Change' };
    expect(meter.answered(API)).toEqual(outage);
    await clock.advance(9000);
    expect(meter.answered(API)).toEqual(outage);
    expect(meter.answered({ ...API, logFile: 'another' })).toBeUndefined();
  });

  it('HOS-15 is made of no other member than the API server', async () => {
    const meter = createOutageMeter(virtualClock());
    const etcd = { member: 'etcd', logFile: 'log' } as const;
    meter.begin(etcd, 'Start');
    expect(meter.answered(etcd)).toBeUndefined();
  });

  it('HOS-15 begins again with the next change, also when the former one has not ended', async () => {
    const clock = virtualClock();
    const meter = createOutageMeter(clock);
    meter.begin(API, 'Change');
    await clock.advance(60_000);
    meter.begin(API, 'Change');
    await clock.advance(500);
    expect(meter.answered(API)?.milliseconds).toBe(500);
    meter.begin(API, 'Start');
    await clock.advance(700);
    expect(meter.answered(API)).toMatchObject({ milliseconds: 700, cause: 'Start' });
  });
});
