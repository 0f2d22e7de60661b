import { describe, expect, it } from 'vitest';
import { stageEvent } from '../../../src/controllers/hostdoctor/stage.ts';
import { eventWait } from '../../../src/controllers/hostdoctor/waits.ts';
import { maintenanceObservation } from '../../support/maintenance.ts';
import { EVENT_ROWS } from './event-rows.ts';

describe('the wait of an event that', () => {
  it.each(EVENT_ROWS)('%s', (_, parts, more, [, wait]) => {
    const observation = maintenanceObservation(parts, more);
    const found = eventWait(stageEvent(observation), observation);
    const text = found ? `${found.reason}: ${found.message}` : '';
    expect(text.slice(0, wait.length)).toBe(wait);
    expect(text === '').toBe(wait === '');
  });
});
