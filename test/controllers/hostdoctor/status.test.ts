import { describe, expect, it } from 'vitest';
import { stageEvent } from '../../../src/controllers/hostdoctor/stage.ts';
import { eventFindings } from '../../../src/controllers/hostdoctor/status.ts';
import { eventWait } from '../../../src/controllers/hostdoctor/waits.ts';
import { type EventParts, maintenanceObservation } from '../../support/maintenance.ts';
import { EVENT_ROWS, HINT } from './event-rows.ts';

/** Those that are True. */
const TRUE = {
  Settled: ['Matched', 'Settled'],
  Undoing: ['Matched'],
  Unmatched: [],
  Inconsistent: ['Matched', 'Inconsistent'],
  NotNeeded: ['Matched', 'Prepared'],
  NotScheduled: ['Matched'],
  TooEarly: ['Matched'],
  Preparing: ['Matched', 'Progressing'],
  Prepared: ['Matched', 'Prepared'],
} as const;

const WITH_MACHINE = EVENT_ROWS.filter(
  ([, , more, [stage]]) => stage === 'Unmatched' || !('machine' in more && !more.machine),
);

function findingsOf(parts: EventParts, more = {}): ReturnType<typeof eventFindings> {
  const observation = maintenanceObservation(parts, more);
  const staged = stageEvent(observation);
  return eventFindings(staged, observation.event, eventWait(staged, observation));
}

describe('the conditions of an event that', () => {
  it.each(WITH_MACHINE)('%s', (_, parts, more, [stage]) => {
    const findings = findingsOf(parts, more);
    expect(findings.filter(({ status }) => status === 'True').map(({ type }) => type)).toEqual(TRUE[stage]);
    expect(findings.map(({ type }) => type)).toEqual([
      'Matched',
      'Inconsistent',
      'Prepared',
      'Settled',
      'Progressing',
    ]);
  });

  it.each([
    [{ state: 'Avoided' } as const, 'Avoided'],
    [{ ...HINT, ttlSeconds: 60 }, 'HintExpired'],
    [{}, 'NotOver'],
  ])('name how it ended', (parts, reason) => {
    expect(findingsOf(parts).find(({ type }) => type === 'Settled')?.reason).toBe(reason);
  });
});
