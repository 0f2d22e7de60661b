import { describe, expect, it } from 'vitest';
import { jobViolations } from '../../../../../src/sim/rollout/repairs/judge/job-rules.ts';
import { judgedJob } from '../repair-objects.ts';

describe('jobViolations', () => {
  it('finds nothing in the first job of a machine', () => {
    const job = judgedJob();
    expect(jobViolations(undefined, job, [job])).toEqual([]);
  });

  it('R12 finds a second job at work on one machine, whatever its rule', () => {
    const [first, second] = [judgedJob(), judgedJob({ uid: 'job-2', remedier: 'network', case: '1b' })];
    const found = jobViolations(undefined, second, [first, second]);
    expect(found).toEqual(['a second job at work on the machine']);
    const ended = judgedJob({ outcome: 'Transient' });
    expect(jobViolations(undefined, second, [ended, second])).toEqual([]);
  });

  it('R37 finds an attempt that the rung does not have', () => {
    const first = judgedJob({ outcome: 'Transient' });
    const second = judgedJob({ uid: 'job-2', attempt: 2 });
    expect(jobViolations(undefined, second, [first, second])).toEqual([
      'more attempts of rung restart than it has',
    ]);
  });

  it('R37 finds a rung that is tried after a higher one, and one that the ladder does not have', () => {
    const higher = judgedJob({ index: 2, outcome: 'Transient' });
    const lower = judgedJob({ uid: 'job-2', index: 1 });
    expect(jobViolations(undefined, lower, [higher, lower])).toEqual(['rung restart after a higher one']);
    const beyond = judgedJob({ index: 4 });
    expect(jobViolations(undefined, beyond, [beyond])).toEqual([
      'a job of rung 4, which the ladder does not have',
    ]);
  });

  it('finds an outcome that changes', () => {
    const [before, after] = [judgedJob({ outcome: 'Succeeded' }), judgedJob({ outcome: 'Transient' })];
    expect(jobViolations(before, after, [after])).toEqual(['outcome Transient after outcome Succeeded']);
    expect(jobViolations(before, before, [before])).toEqual([]);
  });
});
