import { describe, expect, it } from 'vitest';
import {
  hintExpiry,
  isDecided,
  isMaintenanceOver,
  MAINTENANCE_EVENT_INDEXERS,
  type MaintenanceState,
  maintenanceEventsOn,
  needsPreparation,
} from '../../../src/api/machine/maintenance-events.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import { NOW } from '../../support/builders.ts';
import { maintenanceEvent } from '../../support/maintenance.ts';
import { memoryLog } from '../../support/memory-log.ts';

function isHintOver(ttlSeconds: number): boolean {
  return isMaintenanceOver(maintenanceEvent({ hint: true, ttlSeconds }), NOW);
}

describe('a MaintenanceEvent', () => {
  it.each(['Done', 'Cancelled', 'Failed', 'Avoided'] as const)('is over when it is %s', (state) => {
    expect(isMaintenanceOver(maintenanceEvent({ state }), NOW)).toBe(true);
  });

  it.each(['Inquiring', 'Scheduled', 'Executing'] as const)('is not over while it is %s', (state) => {
    expect(isMaintenanceOver(maintenanceEvent({ state }), NOW)).toBe(false);
  });

  it.each<[state: MaintenanceState, hint: boolean, expected: boolean]>([
    ['Inquiring', false, false],
    ['Scheduled', false, true],
    ['Executing', false, true],
    ['Scheduled', true, false],
    ['Done', false, false],
  ])('will come, as far as its provider knows: %s, a hint: %s', (state, hint, expected) => {
    expect(isDecided(maintenanceEvent({ state, hint }))).toBe(expected);
  });

  it('is over as a hint from its last second on', () => {
    expect([isHintOver(60), isHintOver(61)]).toEqual([true, false]);
    expect(hintExpiry(maintenanceEvent({ hint: true, ttlSeconds: 60 }))).toEqual(NOW);
    expect(hintExpiry(maintenanceEvent({ hint: false, ttlSeconds: 60 }))).toBeUndefined();
  });

  it('needs preparation when pods do not survive it', () => {
    const types = [
      'Reboot',
      'Stop',
      'Redeploy',
      'Preempt',
      'Freeze',
      'Network',
      'DiskFault',
      'Other',
    ] as const;
    expect(types.filter((type) => needsPreparation(maintenanceEvent({ type })))).toEqual([
      'Reboot',
      'Stop',
      'Redeploy',
      'Preempt',
    ]);
  });

  it('is found by its machine', () => {
    const store = createStore({ log: memoryLog(), indexers: MAINTENANCE_EVENT_INDEXERS });
    const events = [maintenanceEvent(), maintenanceEvent({ name: 'local-e-2', machine: 'm-2' })];
    store.replace(events, '1');
    expect(maintenanceEventsOn('m-2', store)).toEqual([events[1]]);
  });
});
