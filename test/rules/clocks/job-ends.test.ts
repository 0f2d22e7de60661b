import { describe, expect, it } from 'vitest';
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { createJobTracker } from '../../../src/rules/clocks/job-ends.ts';
import { ago, NOW } from '../../support/builders.ts';
import { repairJob } from '../live/facts-bed.ts';

const RUNNING = repairJob('a', [['Reboot', ago(60)]]);
const DONE = ended('a', ago(20));

function ended(name: string, settledAt: string): RemedyOperationJob {
  return repairJob(name, [['Reboot', ago(60)]], { outcome: { class: 'Succeeded' }, timeline: { settledAt } });
}

function createTracker(): ReturnType<typeof createJobTracker> {
  return createJobTracker({ readTime: () => ({ ms: 100_000, at: NOW }) });
}

describe('createJobTracker', () => {
  it('R3 takes the end of a job that it observes for now, whatever clock wrote the timestamp', () => {
    const jobs = createTracker();
    expect(jobs.put(RUNNING, undefined)).toBe(false);
    expect(jobs.endedMs('n')).toBeUndefined();
    expect(jobs.put(DONE, RUNNING)).toBe(true);
    expect(jobs.endedMs('n')).toBe(100_000);
    expect(jobs.put(DONE, DONE)).toBe(false);
  });

  it('R3 reads the timestamp of a job that had ended before, and keeps the latest end', () => {
    const jobs = createTracker();
    jobs.put(DONE, undefined);
    jobs.put(ended('b', ago(50)), undefined);
    expect(jobs.endedMs('n')).toBe(80_000);
  });

  it('remembers the end of a job that is deleted, and has no jobs of other machines', () => {
    const jobs = createTracker();
    jobs.put(DONE, undefined);
    jobs.put(ended('b', ago(50)), undefined);
    jobs.remove(DONE);
    expect(jobs.of('n').map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect([jobs.of('other'), jobs.endedMs('other'), jobs.endedMs('n')]).toEqual([[], undefined, 80_000]);
  });
});
