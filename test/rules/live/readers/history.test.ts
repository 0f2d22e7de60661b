import { describe, expect, it } from 'vitest';
import { endOfJob } from '../../../../src/rules/live/readers/history.ts';
import { ago, machine } from '../../../support/builders.ts';
import { factsBed, repairJob } from '../facts-bed.ts';

const REBOOTS = { action: 'Reboot', windowSeconds: 3600 };

describe('the fact history', () => {
  it('counts the steps of the jobs of this machine that began, with the outcome of the last job', () => {
    const bed = factsBed();
    bed.machine();
    bed.job(
      repairJob(
        'a',
        [
          ['Cordon', ago(900)],
          ['Reboot', ago(800)],
        ],
        { outcome: { class: 'Transient' } },
      ),
    );
    bed.job(repairJob('b', [['Reboot', ago(300)]], { outcome: { class: 'Succeeded' } }));
    bed.job(repairJob('c', [['Reboot', undefined]]));
    bed.job(repairJob('d', [['Reboot', ago(4000)]]));
    expect(bed.read('history', REBOOTS)).toEqual({ count: 2, lastAgeSeconds: 300, lastOutcome: 'Succeeded' });
    bed.job(repairJob('e', [['Reboot', ago(10)]]));
    expect(bed.read('history', REBOOTS)).toEqual({ count: 3, lastAgeSeconds: 10 });
  });

  it('does not count the jobs of an earlier machine of the same name', () => {
    const bed = factsBed();
    bed.machine();
    bed.job(repairJob('a', [['Reboot', ago(300)]]));
    bed.machine({ metadata: { uid: 'other' } });
    expect(bed.read('history', REBOOTS)).toEqual({ count: 0 });
  });

  it('R1 is unknown while the jobs were not listed', () => {
    const bed = factsBed();
    bed.machine();
    bed.silence('jobs', Infinity);
    expect(bed.why('history', REBOOTS)).toBe('RemedyOperationJobs: initial list not complete');
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
