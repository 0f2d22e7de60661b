import { expect, it } from 'vitest';
import { createFailures } from '../../../src/agent/run/failures.ts';
import type { VirtualClock } from '../../support/virtual-clock.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const FULL = { code: 'DiskFull', message: 'the disk is full' };

function waitMs(clock: VirtualClock, at: Date | undefined): number {
  return (at?.getTime() ?? Number.NaN) - clock.now().getTime();
}

it('waits twice as long after each failure of a correction, at most a minute', () => {
  const clock = virtualClock();
  const failures = createFailures(clock);
  const waits = Array.from({ length: 7 }, () => {
    failures.add('web', FULL);
    return waitMs(clock, failures.get('web')?.retryAt) / 1000;
  });
  expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60]);
  failures.clear('web');
  expect([failures.get('web'), failures.nextRetryAt()]).toEqual([undefined, undefined]);
});

it.each([-86_400_000, 86_400_000])(
  'AGT-42 waits neither longer nor shorter after the clock was set by %i ms',
  async (jumpMs) => {
    const clock = virtualClock();
    const failures = createFailures(clock);
    failures.add('web', FULL);
    clock.jumpWall(jumpMs);
    expect(failures.get('web')).toMatchObject(FULL);
    expect(waitMs(clock, failures.get('web')?.retryAt)).toBe(2000);
    expect(waitMs(clock, failures.nextRetryAt())).toBe(2000);
    failures.clearPast('web');
    expect(failures.get('web')).toBeDefined();
    await clock.advance(2000);
    expect(waitMs(clock, failures.get('web')?.retryAt)).toBe(0);
    failures.clearPast('web');
    expect(failures.get('web')).toBeUndefined();
  },
);
