import { describe, expect, it } from 'vitest';
import { stageEvent } from '../../../src/controllers/hostdoctor/stage.ts';
import { maintenanceObservation } from '../../support/maintenance.ts';
import { EVENT_ROWS } from './event-rows.ts';

describe('the stage of an event that', () => {
  it.each(EVENT_ROWS)('%s', (_, parts, more, [stage]) => {
    const found = stageEvent(maintenanceObservation(parts, more));
    expect(found.stage).toBe(stage);
    // The rule acts on nothing else.
    expect(found.actAt !== undefined).toBe(
      ['NotNeeded', 'NotScheduled', 'TooEarly', 'Preparing', 'Prepared'].includes(stage),
    );
  });
});
