import { describe, expect, it } from 'vitest';
import type { RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { changesByJobs, flapOf, flapWait } from '../../../../src/controllers/remedy/case/flap.ts';
import { ago, NOW } from '../../../support/builders.ts';
import { type JobParts, remedier, remedyJob } from '../../../support/remediers.ts';

const RULE = remedier({
  '/rule/flap': { windowSeconds: 600, maxTransitions: 2 },
  '/rule/flap/then': 'Hold',
});

function found(...seconds: readonly number[]): string | undefined {
  const changes = seconds.map((each) => new Date(ago(each)));
  const flap = flapOf(RULE, changes, NOW);
  return flap && `${flap.next} until ${(+flap.until - +NOW) / 1000}`;
}

describe('the changes of a fault', () => {
  it.each<[readonly number[], string | undefined]>([
    [[], undefined],
    [[500, 400], undefined],
    [[500, 400, 0], 'Hold until 100'],
    [[599, 400, 0], 'Hold until 1'],
    [[600, 400, 0], undefined],
    [[9000, 8000, 600, 400, 0], undefined],
    [[500, 400, 300, 200], 'Hold until 200'],
  ])('R5 so many seconds ago, %j, flap as their rule counts them: %s', (seconds, expected) => {
    expect(found(...seconds)).toBe(expected);
  });

  it('R5 are explained with their number, the window and the limit', () => {
    const changes = [500, 400, 300].map((each) => new Date(ago(each)));
    const flap = flapOf(RULE, changes, NOW);
    expect(flap && flapWait(flap)).toMatchObject({
      reason: 'Flapping',
      message: 'the fault came or went 3 times in 600 s, at most 2 are allowed',
    });
  });

  it('R5 are not known exactly when they are as many as are kept', () => {
    const changes = Array.from({ length: 101 }, (_, index) => new Date(ago(500 - index)));
    expect(flapOf(RULE, changes, NOW)?.message).toContain('came or went at least 101 times');
  });
});

function changesOf(...jobs: readonly JobParts[]): readonly number[] {
  return changesByJobs(jobs.map(remedyJob), NOW).map((at) => (+NOW - +at) / 1000);
}

describe('the changes that jobs show', () => {
  it('R5 are the begin of each job, and the end of each after which the fault was away', () => {
    const [first, second] = [
      { begun: 900, ended: 800, outcome: 'Succeeded' },
      { begun: 600, ended: 500, outcome: 'Superseded' },
    ] as const;
    expect(changesOf(second, first)).toEqual([900, 800, 600, 500, 0]);
  });

  it.each(['Transient', 'Permanent', 'Ambiguous', 'Cancelled', 'HandedOff'] as const)(
    'R5 do not count where a job ended as %s: the fault stayed',
    (outcome) => {
      expect(changesOf({ begun: 900, ended: 800, outcome }, { begun: 600 })).toEqual([900]);
    },
  );

  it('R5 end with a job that the agent refused because the fault was away', () => {
    const job = remedyJob({ begun: 900, ended: 800, outcome: 'Cancelled' });
    const refuted = {
      ...job,
      status: { ...job.status, outcome: { class: 'Cancelled', reason: 'RuleRefuted' } },
    };
    expect(changesByJobs([refuted as RemedyOperationJob], NOW)).toHaveLength(3);
  });

  it('R5 are the fault itself where it had no job', () => {
    expect(changesOf()).toEqual([0]);
  });
});
