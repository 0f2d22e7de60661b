import { describe, expect, it } from 'vitest';
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { createJobEnds, endOfJob, hasEnded, type JobEnds } from '../../../src/rules/clocks/job-ends.ts';
import { ago, machine, NOW } from '../../support/builders.ts';
import { repairJob } from '../live/facts-bed.ts';

const RUNNING = repairJob('a', [['Reboot', ago(60)]]);
const DONE = ended('a', ago(20));
const POINT = { ms: 100_000, at: NOW };

function ended(name: string, settledAt: string): RemedyOperationJob {
  return repairJob(name, [['Reboot', ago(60)]], { outcome: { class: 'Succeeded' }, timeline: { settledAt } });
}

/** The ends after these jobs were observed, each with its state before. */
function endsOf(...observed: readonly (readonly [RemedyOperationJob, RemedyOperationJob?])[]): JobEnds {
  const ends = createJobEnds();
  for (const [job, before] of observed) ends.observe(job, before, POINT);
  return ends;
}

describe('createJobEnds', () => {
  it('R3 takes the end of a job that it observes for now, whatever clock wrote the timestamp', () => {
    expect(endsOf([RUNNING]).endedMs('n')).toBeUndefined();
    expect(endsOf([RUNNING], [DONE, RUNNING]).endedMs('n')).toBe(100_000);
  });

  it('R3 reads the timestamp of a job that had ended before, and keeps the latest end', () => {
    const ends = endsOf([DONE], [ended('b', ago(50))]);
    expect([ends.endedMs('n'), ends.endedMs('other')]).toEqual([80_000, undefined]);
  });
});

describe('hasEnded', () => {
  it.each([
    ['false for a job that runs', false, undefined, RUNNING],
    ['true for one that ends', true, RUNNING, DONE],
    ['true for one that had ended before we observed it', true, undefined, DONE],
    ['false for one that is written again', false, DONE, DONE],
    ['false for one that is deleted', false, DONE, undefined],
  ])('is %s', (_, expected, before, after) => {
    expect(hasEnded(before, after)).toBe(expected);
  });
});

describe('endOfJob', () => {
  const outcome = { class: 'Succeeded' };

  it.each([
    ['is undefined for a job that is not finished', undefined, repairJob('j', [['Reboot', ago(60)]])],
    [
      'is undefined for a job that did nothing',
      undefined,
      repairJob('j', [['Reboot', undefined]], { outcome }),
    ],
    [
      'is when cordon, taints and grant were returned',
      ago(10),
      repairJob('j', [['Reboot', ago(60)]], {
        outcome,
        timeline: { executedAt: ago(20), settledAt: ago(10) },
      }),
    ],
    [
      'is the last time of a step without a timeline',
      ago(60),
      repairJob('j', [['Reboot', ago(60)]], { outcome }),
    ],
  ])('%s', (_, end, job) => {
    expect(endOfJob(job)).toBe(end);
  });

  it('is undefined without a status', () => {
    const { status: _, ...job } = repairJob('j', []);
    expect(endOfJob(job)).toBeUndefined();
    expect(machine('n').metadata.uid).toBe(job.spec.machine.uid);
  });
});
