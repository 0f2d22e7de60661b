import { describe, expect, it } from 'vitest';
import { nextAttempt } from '../../../../src/controllers/remedy/case/rungs.ts';
import { ago, NOW } from '../../../support/builders.ts';
import { type JobParts, remedier, remedyJob } from '../../../support/remediers.ts';

const SINCE = new Date(ago(3600));
const RULE = remedier({ '/ladder/0/maxAttempts': 3, '/ladder/0/retrySeconds': 60 });

function next(...jobs: readonly JobParts[]): string {
  return nextWhile(undefined, jobs);
}

function nextWhile(flap: 'HandOff' | 'NextRung' | undefined, jobs: readonly JobParts[]): string {
  const all = jobs.map((parts) => remedyJob({ begun: 1000, ended: 500, ...parts }));
  const found = nextAttempt(RULE, all, { since: SINCE, now: NOW, flap });
  if ('wait' in found) return found.wait.reason;
  const { rung, index, attempt } = found.attempt;
  return `${rung.name} ${index} ${attempt}`;
}

describe('the next attempt of a case', () => {
  it.each<[readonly JobParts[], string]>([
    [[], 'soft 1 1'],
    [[{ outcome: 'Transient' }], 'soft 1 2'],
    [[{ outcome: 'Transient' }, { outcome: 'Transient', attempt: 2 }], 'soft 1 3'],
    [[{ outcome: 'Transient', attempt: 3 }], 'person 2 1'],
    [[{ outcome: 'Permanent' }], 'person 2 1'],
    [[{ outcome: 'Ambiguous' }], 'person 2 1'],
    [[{ outcome: 'Superseded' }], 'soft 1 2'],
    [[{ outcome: 'Cancelled' }], 'RetryLater'],
    [[{ outcome: 'Transient', ended: 59 }], 'RetryLater'],
    [[{ outcome: 'Transient', ended: 60 }], 'soft 1 2'],
    [[{ outcome: 'Permanent', ended: 0 }], 'person 2 1'],
    [[{ outcome: 'Succeeded' }], 'Verified'],
    [[{ outcome: 'HandedOff', index: 2 }], 'HandedOff'],
    [[{ outcome: 'Transient', index: 2 }], 'HandedOff'],
  ])('after %j is %s', (jobs, expected) => {
    expect(next(...jobs)).toBe(expected);
  });

  it.each<['HandOff' | 'NextRung', readonly JobParts[], string]>([
    ['HandOff', [], 'person 2 1'],
    ['NextRung', [], 'soft 1 1'],
    ['HandOff', [{ outcome: 'Transient' }], 'person 2 1'],
    ['NextRung', [{ outcome: 'Transient' }], 'person 2 1'],
    ['NextRung', [{ outcome: 'Transient', ended: 10 }], 'person 2 1'],
    ['HandOff', [{ outcome: 'Permanent' }], 'person 2 1'],
    ['HandOff', [{ outcome: 'Succeeded' }], 'Verified'],
    ['HandOff', [{ outcome: 'Cancelled' }], 'RetryLater'],
    ['HandOff', [{ outcome: 'HandedOff', index: 2 }], 'HandedOff'],
  ])('R5 of a fault that flaps, with %s, after %j is %s', (flap, jobs, expected) => {
    expect(nextWhile(flap, jobs)).toBe(expected);
  });

  it('R5 of a fault that flaps skips the rungs before the last one with HandOff only', () => {
    const three = remedier({ '/ladder/0/maxAttempts': 3 });
    const [soft, person] = three.spec.ladder;
    if (!soft || !person) throw new Error('the sample rule has two rungs');
    const ladder = [soft, { ...soft, name: 'hard' }, person];
    const jobs = [remedyJob({ begun: 1000, ended: 900, outcome: 'Superseded' })];
    const found = (['HandOff', 'NextRung', undefined] as const).map((flap) =>
      nextAttempt({ spec: { ...three.spec, ladder } }, jobs, { since: SINCE, now: NOW, flap }),
    );
    expect(found).toMatchObject([
      { attempt: { rung: { name: 'person' }, index: 3 } },
      { attempt: { rung: { name: 'hard' }, index: 2 } },
      { attempt: { rung: { name: 'soft' }, index: 1, attempt: 2 } },
    ]);
  });

  it('does not depend on the order of the jobs', () => {
    expect(next({ outcome: 'Transient', attempt: 2 }, { outcome: 'Transient' })).toBe('soft 1 3');
  });
});
