import { describe, expect, it } from 'vitest';
import type { MaintenanceInput } from '../../../src/controllers/hostdoctor/observe.ts';
import { planMaintenance } from '../../../src/controllers/hostdoctor/plan.ts';
import { formatMaintenance, formatMaintenanceEvent } from '../../../src/views/maintenance/show.ts';
import { type MaintenanceView, viewMaintenance } from '../../../src/views/maintenance/view.ts';
import { ago, NOW } from '../../support/builders.ts';
import { type EventParts, maintenanceJob, maintenanceObservation } from '../../support/maintenance.ts';

/** With the status that the controller would write. */
function view(parts: EventParts, more: Partial<MaintenanceInput> = {}): MaintenanceView {
  const observation = maintenanceObservation(parts, more);
  return viewMaintenance({ ...observation.event, status: planMaintenance(observation).status });
}

const VIEWS = [
  view({ name: 'local-e-1' }),
  view({ name: 'local-e-2', notBefore: ago(-1200) }, { jobs: [maintenanceJob()] }),
  view({ name: 'local-e-3', hint: true, ttlSeconds: 600, type: 'Freeze', notBefore: ago(5) }),
  view({ name: 'local-e-4', state: 'Cancelled' }),
];

describe('formatMaintenance', () => {
  it('lists events with the earliest first, each with what it waits for', () => {
    expect(formatMaintenance(VIEWS, NOW, { limit: 10, columns: 150 })).toMatchInlineSnapshot(`
      "4 events: 1 Done, 1 Pending, 1 Prepared, 1 Preparing

      EVENT       MACHINE   TYPE            STATE       PHASE       BEGINS   WHY
      local-e-3   m-1       Freeze (hint)   Scheduled   Prepared    5s ago   EventNotOver 0s: a machine needs no preparation for Freeze; the reporter ends
                                                                             the event with spec.state Done, Cancelled, Failed or Avoided
      local-e-2   m-1       Reboot          Scheduled   Preparing   in 20m   JobRunning 0s: job m-1-maintenance-0a1b2c3d-r1-a1 is Running
      local-e-1   m-1       Reboot          Scheduled   Pending     in 60m   TooEarly 0s: preparation begins at 2030-01-01T12:35:00Z; no action required
      local-e-4   m-1       Reboot          Cancelled   Done        in 60m
      "
    `);
  });

  it('names how many it does not list', () => {
    const text = formatMaintenance(VIEWS, NOW, { limit: 1, columns: 150 });
    expect(text).toContain('and 3 more: --limit 4 lists all\n');
  });

  it('has a sentence for a cluster without events', () => {
    expect(formatMaintenance([], NOW, { limit: 10, columns: 80 })).toBe('no announced maintenance\n');
  });
});

describe('formatMaintenanceEvent', () => {
  it('shows one event with its times, its wait and its conditions', () => {
    const parts = { deadline: ago(-7200), details: 'the rack moves', metadata: { generation: 3 } };
    expect(formatMaintenanceEvent(view(parts), NOW, 110)).toMatchInlineSnapshot(`
      "local-e-1   Pending
        announces  Reboot of machine m-1, Scheduled
        reported   by provider local as local-e-1, 60s ago, changed 2 times
        begins     2030-01-01T13:00:00Z (in 60m)
        deadline   2030-01-01T14:00:00Z (in 2h)
        prepares   2030-01-01T12:35:00Z (in 35m)
        waits      TooEarly 0s: preparation begins at 2030-01-01T12:35:00Z; no action required
        unblocks   no action required
        details    the rack moves

      CONDITION      STATUS   REASON
      Matched        True     MachineFound   Machine m-1 is the one that is meant
      Inconsistent   False    AsReported     state Scheduled
      Prepared       False    TooEarly       preparation begins at 2030-01-01T12:35:00Z; no action required
      Settled        False    NotOver        the event is Scheduled
      Progressing    False    TooEarly       preparation begins at 2030-01-01T12:35:00Z; no action required
      "
    `);
  });

  it('shows an event that no controller has read yet', () => {
    const { event } = maintenanceObservation({ notBefore: undefined as never });
    expect(formatMaintenanceEvent(viewMaintenance(event), NOW, 110)).toMatchInlineSnapshot(`
      "local-e-1   Pending
        announces  Reboot of machine m-1, Scheduled
        reported   by provider local as local-e-1, 60s ago
      "
    `);
  });
});
