import { describe, expect, it } from 'vitest';
import type { MaintenanceEvent } from '../../../src/api/generated/types.ts';
import { planMaintenance } from '../../../src/controllers/hostdoctor/plan.ts';
import { ago, condition, NOW } from '../../support/builders.ts';
import { type EventParts, maintenanceObservation } from '../../support/maintenance.ts';
import { EVENT_ROWS, HINT, SOON } from './event-rows.ts';

function settledFor(seconds: number, state: MaintenanceEvent['spec']['state'] = 'Done'): boolean {
  const conditions = [condition('Settled', 'True', { lastTransitionTime: ago(seconds) })];
  return planMaintenance(maintenanceObservation({ state, status: { conditions } })).isExpired;
}

describe('the plan of an event', () => {
  const PHASES = {
    Settled: 'Done',
    Undoing: 'Pending',
    Unmatched: 'Unmatched',
    Inconsistent: 'Pending',
    NotNeeded: 'Prepared',
    NotScheduled: 'Pending',
    TooEarly: 'Pending',
    Preparing: 'Preparing',
    Prepared: 'Prepared',
  } as const;

  it.each(EVENT_ROWS)('has the phase of its stage when the event %s', (_, parts, more, [stage, wait]) => {
    const { status } = planMaintenance(maintenanceObservation(parts, more));
    expect(status.phase).toBe(PHASES[stage]);
    expect(status.waiting === undefined).toBe(wait === '');
  });

  it('is the same the second time, and is announced once', () => {
    const first = planMaintenance(maintenanceObservation(SOON));
    expect(first.news).toEqual({
      phase: 'Preparing',
      isBad: false,
      note: 'Reboot of Machine m-1, event local-e-1: NodeRemedier maintenance has begun no job: kubenode why node NODE shows why',
    });
    const later = new Date(NOW.getTime() + 1000);
    const second = planMaintenance({
      ...maintenanceObservation({ ...SOON, status: first.status }),
      now: later,
    });
    expect(second.status).toEqual(first.status);
    expect(second.news).toBeUndefined();
  });

  it('warns of an impossible change and of a missing machine', () => {
    const bad = { state: 'Done', status: { observedState: 'Scheduled' } } as const;
    expect(planMaintenance(maintenanceObservation({ ...bad, state: 'Inquiring' })).news).toMatchObject({
      phase: 'Inconsistent',
      isBad: true,
    });
    expect(planMaintenance(maintenanceObservation({}, { machine: undefined })).news).toMatchObject({
      phase: 'Unmatched',
      isBad: true,
    });
    // Over is over, however it came to that.
    expect(planMaintenance(maintenanceObservation(bad)).status).toMatchObject({
      phase: 'Done',
      observedState: 'Scheduled',
    });
  });

  it('counts reports, and remembers its job when that was deleted', () => {
    const status = { job: 'm-1-maintenance-0a1b2c3d-r1-a1', remedier: 'maintenance' };
    const parts = { state: 'Done', metadata: { generation: 7 }, status } as const;
    expect(planMaintenance(maintenanceObservation(parts)).status).toMatchObject({ ...status, reports: 7 });
  });

  it.each<readonly [string, EventParts, number | undefined]>([
    ['its preparation begins', {}, 3600 - 1500],
    ['its hint expires', { ...HINT }, 540],
    ['its deadline passes', { ...SOON, deadline: ago(-1300) }, 1300],
    ['it is deleted', { state: 'Done' }, 1_209_600],
    ['nothing by itself', SOON, undefined],
  ])('is made again when %s', (_, parts, seconds) => {
    const { nextAt } = planMaintenance(maintenanceObservation(parts));
    expect(nextAt && (nextAt.getTime() - NOW.getTime()) / 1000).toBe(seconds);
  });

  it('deletes an event two weeks after it was settled, and no open one', () => {
    expect(settledFor(1_209_599)).toBe(false);
    expect(settledFor(1_209_600)).toBe(true);
    expect(settledFor(1_209_600, 'Scheduled')).toBe(false);
  });

  it.each<readonly [MaintenanceEvent['spec']['state'], number, boolean]>([
    ['Cancelled', 1_209_599, false],
    ['Cancelled', 1_209_600, true],
    ['Avoided', 1_209_599, false],
    ['Done', 1_209_599, true],
  ])('MAC-37 keeps an event that ended as %s two weeks beyond its notBefore', (state, passed, isExpired) => {
    const conditions = [condition('Settled', 'True', { lastTransitionTime: ago(2_000_000) })];
    const parts = { state, notBefore: ago(passed), status: { conditions } };
    expect(planMaintenance(maintenanceObservation(parts)).isExpired).toBe(isExpired);
  });
});
