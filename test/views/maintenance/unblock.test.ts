import { describe, expect, it } from 'vitest';
import { planMaintenance } from '../../../src/controllers/hostdoctor/plan.ts';
import { maintenanceUnblock } from '../../../src/views/maintenance/unblock.ts';
import { EVENT_ROWS } from '../../controllers/hostdoctor/event-rows.ts';
import { maintenanceObservation } from '../../support/maintenance.ts';

const WAITS = EVENT_ROWS.filter(([, , , [, wait]]) => wait !== '');

describe('what ends the wait of an event that', () => {
  it.each(WAITS)('%s', (_, parts, more) => {
    const { waiting } = planMaintenance(maintenanceObservation(parts, more)).status;
    const hint = waiting ? maintenanceUnblock(waiting, 'local-e-1', 'm-1') : '';
    expect(hint).toMatch(/kubenode |kubectl |git|no action required|reporter/);
    expect(hint).not.toMatch(/EVENT|MACHINE|JOB/);
  });

  it('is shown by its job when a job waits, and by the machine otherwise', () => {
    const wait = { reason: 'Draining', since: '2030-01-01T00:00:00Z' };
    const blocker = { kind: 'RemedyOperationJob', name: 'm-1-maintenance-0a1b2c3d-r1-a1' };
    expect(maintenanceUnblock({ ...wait, blocker }, 'local-e-1', 'm-1')).toBe(
      'kubenode remedy show m-1-maintenance-0a1b2c3d-r1-a1 shows what it waits for',
    );
    expect(maintenanceUnblock(wait, 'local-e-1', 'm-1')).toBe(
      'kubenode why node m-1 shows what is in the way',
    );
  });
});
