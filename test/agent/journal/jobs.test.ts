import { describe, expect, it } from 'vitest';
import {
  applyJob,
  begunStep,
  highestFence,
  type JobStepProgress,
  type JobsState,
} from '../../../src/agent/journal/jobs.ts';
import { stepProgress } from '../../support/agent/jobs.ts';

function after(...steps: readonly Partial<JobStepProgress>[]): JobsState {
  return steps.reduce<JobsState>(
    (state, fields) => applyJob(state, { type: 'Job', ...stepProgress(fields) }),
    new Map(),
  );
}

describe('the journal of job steps', () => {
  it('keeps one state for each job, step and try', () => {
    const state = after({}, { state: 'Failed' }, { try: 2 }, { step: 's2', state: 'Refused' });
    expect([...state].map(([key, { state: is }]) => `${key} ${is}`)).toEqual([
      'job-1/s1/1 Failed',
      'job-1/s1/2 Begun',
      'job-1/s2/1 Refused',
    ]);
    expect(begunStep(state)).toMatchObject({ try: 2 });
    expect(begunStep(after({ state: 'Succeeded' }))).toBeUndefined();
  });

  it('takes the highest fence from what was begun, and none from what was refused', () => {
    expect(highestFence(after({ fence: 3 }, { job: 'b', fence: 9, state: 'Refused' }))).toBe(3);
    expect(highestFence(new Map())).toBe(0);
  });

  it('AGT-51 forgets only tries that their fence refuses, however many there are', () => {
    const old = Array.from(
      { length: 400 },
      (_, index) => ({ job: `old-${index}`, fence: index, state: 'Failed' }) as const,
    );
    const newest = Array.from(
      { length: 96 },
      (_, index) => ({ job: 'new', step: `s${index}`, fence: 1000, state: 'Failed' }) as const,
    );
    const state = after(...old, ...newest, { job: 'running', fence: 500 }, ...old);
    expect(state.size).toBeLessThanOrEqual(200);
    expect([...state.values()].filter(({ job }) => job === 'new')).toHaveLength(96);
    expect(begunStep(state)).toMatchObject({ job: 'running' });
    expect(highestFence(state)).toBe(1000);
  });
});
