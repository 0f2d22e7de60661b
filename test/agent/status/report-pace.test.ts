import { describe, expect, it } from 'vitest';
import { BEGUN_MS, GENERATION_MS } from '../../../src/agent/status/report-delay.ts';
import { createReportPace } from '../../../src/agent/status/report-pace.ts';
import type { MachineStatus } from '../../../src/api/generated/types.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

type State = 'Committed' | 'Probation' | 'RolledBack';

function report(observedGeneration: number, state: State = 'Committed'): Partial<MachineStatus> {
  return { agent: { observedGeneration }, components: [{ name: 'app', state }] };
}

function bed(): ReturnType<typeof createReportPace> & ReturnType<typeof virtualClock> {
  const clock = virtualClock();
  const pace = createReportPace(clock);
  pace.wrote(report(1));
  return Object.assign(clock, pace);
}

describe('createReportPace', () => {
  it('reports a work that lasts, and not one that has ended before', async () => {
    const pace = bed();
    expect(pace.isDue(report(2, 'Probation'), true)).toBe(false);
    await pace.advance(BEGUN_MS - 1);
    expect(pace.isDue(report(2, 'Probation'), true)).toBe(false);
    expect(pace.nextMs()).toBe(BEGUN_MS);
    await pace.advance(1);
    expect(pace.isDue(report(2, 'Probation'), true)).toBe(true);
  });

  it('reports the end at once, also while a report of the beginning waits', () => {
    const pace = bed();
    pace.isDue(report(2, 'Probation'), true);
    expect(pace.isDue(report(2), true)).toBe(true);
    pace.wrote(report(2));
    expect([pace.isDue(report(2), true), pace.nextMs()]).toEqual([false, undefined]);
  });

  it('counts the time of a beginning from that beginning, whatever waited before', async () => {
    const pace = bed();
    expect(pace.isDue(report(2), false)).toBe(false);
    await pace.advance(GENERATION_MS - 1);
    expect(pace.isDue(report(3, 'Probation'), true)).toBe(false);
    await pace.advance(BEGUN_MS);
    expect(pace.isDue(report(3, 'Probation'), true)).toBe(true);
  });

  it('reports a generation that only took grants away in the end', async () => {
    const pace = bed();
    expect(pace.isDue(report(2), false)).toBe(false);
    await pace.advance(GENERATION_MS);
    expect(pace.isDue(report(2), false)).toBe(true);
  });

  it('is due again after a write that failed', async () => {
    const pace = bed();
    expect(pace.isDue(report(2, 'RolledBack'), true)).toBe(true);
    await pace.advance(1000);
    expect(pace.isDue(report(2, 'RolledBack'), true)).toBe(true);
  });

  it('forgets what waited when the state is as it was written', async () => {
    const pace = bed();
    pace.isDue(report(2, 'Probation'), true);
    expect([pace.isDue(report(1), true), pace.nextMs()]).toEqual([false, undefined]);
    await pace.advance(BEGUN_MS);
    expect(pace.isDue(report(2, 'Probation'), true)).toBe(false);
  });
});
