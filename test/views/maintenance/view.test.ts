import { describe, expect, it } from 'vitest';
import { sortMaintenance, viewMaintenance } from '../../../src/views/maintenance/view.ts';
import { ago, condition } from '../../support/builders.ts';
import { type EventParts, maintenanceEvent } from '../../support/maintenance.ts';

function sorted(...parts: readonly EventParts[]): readonly string[] {
  return sortMaintenance(parts.map((each) => viewMaintenance(maintenanceEvent(each)))).map(
    ({ event }) => event,
  );
}

describe('sortMaintenance', () => {
  it('lists the earliest first, whatever form its time has', () => {
    const names = sorted(
      { name: 'late', notBefore: ago(-7200) },
      { name: 'zoned', notBefore: '2030-01-01T14:30:00+02:00' },
      { name: 'any-time', notBefore: undefined as never },
      { name: 'soon', notBefore: ago(-3600) },
    );
    expect(names).toEqual(['any-time', 'zoned', 'soon', 'late']);
  });

  it('lists 300 events by their start', () => {
    const events = Array.from({ length: 300 }, (_, index) => ({
      name: `e-${index}`,
      notBefore: ago(-60 * ((index * 7) % 300)),
    }));
    const byStart = [...events].toSorted((a, b) => (a.notBefore < b.notBefore ? -1 : 1));
    expect(sorted(...events)).toEqual(byStart.map(({ name }) => name));
  });

  it('lists those that are over last, the newest of them first', () => {
    const status = { conditions: [condition('Settled', 'True')] };
    const names = sorted(
      { name: 'old', status, metadata: { creationTimestamp: ago(900) } },
      { name: 'new', status, metadata: { creationTimestamp: ago(90) } },
      { name: 'open', notBefore: ago(-86_400) },
    );
    expect(names).toEqual(['open', 'new', 'old']);
  });
});

describe('viewMaintenance', () => {
  it('shows an event without a status as pending', () => {
    expect(viewMaintenance(maintenanceEvent())).toMatchObject({
      phase: 'Pending',
      unblock: '',
      conditions: [],
      reports: 0,
      details: '',
    });
  });

  it('shows what was diagnosed in one line', () => {
    const parts = { cause: 'MediaError', confidencePercent: 90, details: 'sda' };
    expect(viewMaintenance(maintenanceEvent(parts)).details).toBe('MediaError; 90 % confidence; sda');
  });
});
