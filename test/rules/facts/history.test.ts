import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/rules/compiled-rule.ts';
import type { Observation } from '../../../src/rules/facts/field.ts';
import { historyFact } from '../../../src/rules/facts/history.ts';
import { ago } from '../../support/builders.ts';
import { factsBed, repairJob } from '../live/facts-bed.ts';

const REBOOTS = { action: 'Reboot', windowSeconds: 3600 };

/** `Reboot@60:Succeeded`: step, age and outcome. */
function jobs(text: string, windowSeconds = 3600, reach = Infinity): Reading | undefined {
  const entries = words(text).map((word): Observation => {
    const [action = '', age = '', outcome] = word.split(/[@:]/);
    return { action, ageSeconds: Number(age), ...(outcome !== undefined && { outcome }) };
  });
  return historyFact.observed?.read(entries, { action: 'Reboot', windowSeconds }, reach);
}

function words(text: string): string[] {
  return text.split(' ').filter((word) => word !== '');
}

describe('the fact history', () => {
  it.each<readonly [name: string, text: string, reading: Reading]>([
    ['counts 0 without jobs', '', { count: 0 }],
    [
      'has count, age and outcome of the last job',
      'Reboot@90:Transient Reboot@30:Succeeded',
      { count: 2, lastAgeSeconds: 30, lastOutcome: 'Succeeded' },
    ],
    ['ignores other steps', 'Drain@5:Succeeded', { count: 0 }],
    ['ignores jobs outside of the window', 'Reboot@4000:Succeeded', { count: 0 }],
    ['has no outcome of a running job', 'Reboot@5 Reboot@90:Succeeded', { count: 2, lastAgeSeconds: 5 }],
  ])('%s', (_, text, reading) => {
    expect(jobs(text)).toEqual(reading);
  });

  it('is unknown if jobs are kept for a shorter time', () => {
    expect(jobs('Reboot@5:Succeeded', 3600, 1800)).toEqual({});
  });
});

describe('the fact history of a machine', () => {
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
