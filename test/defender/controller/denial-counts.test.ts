import { describe, expect, it } from 'vitest';
import { createDenialCounts } from '../../../src/defender/controller/denial-counts.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

describe('denial counts', () => {
  it('R29 counts by policy and reason, for a day', async () => {
    const clock = virtualClock();
    const counts = createDenialCounts(clock);
    const freeze = { reason: 'Freeze', message: '', policy: 'gpu' } as const;
    counts.add([freeze, { reason: 'AskStale', message: '' }]);
    await clock.advance(12 * 3_600_000);
    counts.add([freeze, { ...freeze, reason: 'BlockedByPod' }]);
    expect(counts.of('gpu')).toEqual({ BlockedByPod: 1, Freeze: 2 });
    expect(counts.of('fleet-default')).toEqual({ AskStale: 1 });
    await clock.advance(13 * 3_600_000);
    expect(counts.of('gpu')).toEqual({ BlockedByPod: 1, Freeze: 1 });
    expect([counts.of('fleet-default'), counts.of('other')]).toEqual([{}, {}]);
  });
});
