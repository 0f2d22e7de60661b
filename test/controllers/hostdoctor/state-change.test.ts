import { describe, expect, it } from 'vitest';
import type { MaintenanceState } from '../../../src/api/machine/maintenance-events.ts';
import { type StateChange, stateChange } from '../../../src/controllers/hostdoctor/state-change.ts';
import { maintenanceEvent } from '../../support/maintenance.ts';

const STATES = ['Inquiring', 'Scheduled', 'Executing', 'Done', 'Cancelled', 'Failed', 'Avoided'] as const;
const EDGES: ReadonlySet<string> = new Set([
  'Inquiring-Scheduled',
  'Scheduled-Executing',
  'Executing-Done',
  ...['Inquiring', 'Scheduled', 'Executing'].flatMap((from) =>
    ['Cancelled', 'Failed', 'Avoided'].map((to) => `${from}-${to}`),
  ),
]);

function changeFrom(from: MaintenanceState, to: MaintenanceState, reports = 1): StateChange {
  const metadata = { generation: 3 + reports };
  const status = { observedState: from, observedGeneration: 3 };
  return stateChange(maintenanceEvent({ state: to, metadata, status }));
}

describe('the state of an event', () => {
  it.each(STATES)('may be %s at first', (state) => {
    expect(stateChange(maintenanceEvent({ state }))).toEqual({ observed: state });
  });

  it('permits twelve changes, and keeps the state before each of the others', () => {
    const pairs = STATES.flatMap((from) =>
      STATES.filter((to) => to !== from).map((to) => [from, to] as const),
    );
    const permitted = pairs.filter(([from, to]) => EDGES.has(`${from}-${to}`));
    expect(permitted).toHaveLength(12);
    for (const [from, to] of pairs) {
      const { observed, inconsistent } = changeFrom(from, to);
      const isPermitted = EDGES.has(`${from}-${to}`);
      expect([observed, inconsistent === undefined], `${from} to ${to}`).toEqual([
        isPermitted ? to : from,
        isPermitted,
      ]);
    }
  });

  it('names the states that may follow', () => {
    expect(changeFrom('Scheduled', 'Inquiring')).toEqual({
      observed: 'Scheduled',
      inconsistent:
        'state Inquiring cannot follow Scheduled: expected one of Executing, Cancelled, Failed, Avoided',
    });
  });

  it('may have changed once for each report that was missed, and never goes back', () => {
    expect(changeFrom('Inquiring', 'Executing', 2)).toEqual({ observed: 'Executing' });
    expect(changeFrom('Inquiring', 'Done', 2)).toMatchObject({ observed: 'Inquiring' });
    expect(changeFrom('Inquiring', 'Done', 3)).toEqual({ observed: 'Done' });
    expect(changeFrom('Executing', 'Scheduled', 9)).toMatchObject({ observed: 'Executing' });
  });

  it('is consistent again when the reporter returns to the state before', () => {
    expect(changeFrom('Scheduled', 'Scheduled')).toEqual({ observed: 'Scheduled' });
  });
});
