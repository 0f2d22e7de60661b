import { describe, expect, it } from 'vitest';
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import {
  actTime,
  DEFAULT_DRAIN_SECONDS,
  usualDrainSeconds,
} from '../../../src/controllers/hostdoctor/drain-time.ts';
import { ago, NOW } from '../../support/builders.ts';
import {
  type DrainProgress,
  type EventParts,
  maintenanceEvent,
  maintenanceJob,
} from '../../support/maintenance.ts';

/** A drain that took so many seconds, and ended 10 s before NOW. */
function drain(seconds: number, progress: DrainProgress = 'drained'): RemedyOperationJob {
  return maintenanceJob({ begun: seconds + 10, outcome: 'Succeeded' }, progress);
}

function secondsBefore(parts: EventParts, drainSeconds: number): number {
  return (NOW.getTime() - actTime(maintenanceEvent(parts), drainSeconds, NOW).getTime()) / 1000;
}

describe('the usual time of a drain', () => {
  const twenty = Array.from({ length: 20 }, (_, index) => drain((index + 1) * 60));

  it('is the default until a pool has 20 finished drains', () => {
    expect(usualDrainSeconds(twenty.slice(1))).toBe(DEFAULT_DRAIN_SECONDS);
    expect(usualDrainSeconds([])).toBe(DEFAULT_DRAIN_SECONDS);
  });

  it('is then what 95 of 100 need, in whole minutes', () => {
    expect(usualDrainSeconds(twenty)).toBe(19 * 60);
    expect(usualDrainSeconds(twenty.map(() => drain(61)))).toBe(120);
  });

  it('counts drains that were undone later, and none that run', () => {
    expect(usualDrainSeconds(twenty.map(() => drain(60, 'undone')))).toBe(60);
    expect(usualDrainSeconds(twenty.map(() => drain(60, 'draining')))).toBe(DEFAULT_DRAIN_SECONDS);
  });
});

describe('the time of the preparation', () => {
  it('is a drain and 10 minutes before the event', () => {
    expect(secondsBefore({ notBefore: ago(-7200) }, 900)).toBe(-7200 + 900 + 600);
  });

  it('is at once for an event without notBefore', () => {
    expect(secondsBefore({ notBefore: undefined as never }, 900)).toBe(60);
  });

  it.each([
    ['stays when drains become faster', ago(3000), 1, 3000],
    ['becomes earlier when drains become slower', ago(-9000), 1, -7200 + 1500],
    ['moves with the event when it is reported again', ago(3000), 2, -7200 + 1500],
  ])('%s', (_, actAt, generation, expected) => {
    const status = { actAt, observedGeneration: 1 };
    expect(secondsBefore({ notBefore: ago(-7200), metadata: { generation }, status }, 900)).toBe(expected);
  });
});
