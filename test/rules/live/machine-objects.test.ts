import { describe, expect, it } from 'vitest';
import { createMaintenanceTracker } from '../../../src/rules/live/machine-objects.ts';
import { maintenanceEvent } from '../../support/maintenance.ts';

describe('createMaintenanceTracker', () => {
  it('has the events of each machine as they are now, and forgets those that are deleted', () => {
    const tracker = createMaintenanceTracker();
    const first = maintenanceEvent({ name: 'a', machine: 'm-1' });
    const later = maintenanceEvent({ name: 'a', machine: 'm-1', state: 'Executing' });
    const other = maintenanceEvent({ name: 'b', machine: 'm-2' });
    for (const event of [first, other, later]) tracker.put(event);
    expect(tracker.of('m-1')).toEqual([later]);
    expect(tracker.of('m-2')).toEqual([other]);
    tracker.remove(later);
    expect(tracker.of('m-1')).toEqual([]);
    tracker.remove(later);
    expect(tracker.of('m-2')).toEqual([other]);
  });
});
