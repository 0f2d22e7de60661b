import { describe, expect, it } from 'vitest';
import type { JobChange } from '../../../src/controllers/remedyjob/plan/decision.ts';
import { jobStatus } from '../../../src/controllers/remedyjob/status.ts';
import { NOW } from '../../support/builders.ts';
import { GRANT, later, records, repairJob } from './jobs.ts';

const release = {
  step: 's4',
  try: 1,
  fence: GRANT.fence,
  nodeUID: 'node-1',
  bootID: 'boot-1',
  notAfter: later(50),
};

function conditionsAfter(change: JobChange, job = repairJob()): Readonly<Record<string, string>> {
  const { conditions } = jobStatus(job, change, NOW);
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

describe('jobStatus', () => {
  it('is Running while a step is in work, and Waiting while something else has to change', () => {
    const blocked = { reason: 'PodDisruptionBudget', message: 'shop/cart', isBlocked: true } as const;
    expect(jobStatus(repairJob(), {}, NOW).phase).toBe('Running');
    expect(jobStatus(repairJob(), { wait: { ...blocked, isBlocked: false } }, NOW).phase).toBe('Running');
    const status = jobStatus(repairJob(), { wait: blocked }, NOW);
    expect(status.phase).toBe('Waiting');
    expect(status.waiting).toEqual({ reason: 'PodDisruptionBudget', message: 'shop/cart', since: later(0) });
  });

  it('keeps what is not changed, and withdraws a release', () => {
    const job = repairJob({ status: { release, drain: { total: 3 }, steps: records('s1 Succeeded') } });
    expect(jobStatus(job, {}, NOW)).toMatchObject({ release, drain: { total: 3 }, steps: [{ id: 's1' }] });
    expect(jobStatus(job, { release: null }, NOW)).not.toHaveProperty('release');
    const [next] = records('s2 Intended');
    expect(jobStatus(job, next ? { step: next } : {}, NOW).steps?.map(({ id }) => id)).toEqual(['s1', 's2']);
    expect(jobStatus(job, { undone: ['s1'] }, NOW).steps?.[0]?.state).toBe('Undone');
  });

  it('ends with one outcome, and leaves the conditions as they are then', () => {
    expect(conditionsAfter({ outcome: { class: 'Transient' } })).toEqual({ Settled: 'False Transient' });
    const job = repairJob({ status: { outcome: { class: 'Transient', message: 'first' } } });
    expect(conditionsAfter({}, job)).toEqual({});
    expect(jobStatus(job, { outcome: { class: 'Succeeded' } }, NOW).outcome?.class).toBe('Transient');
  });

  it('knows the times before the job from its cause and its grant', () => {
    const { cause } = repairJob().spec;
    const job = repairJob({ spec: { cause: { ...cause, faultAt: later(-171), detectedAt: later(-20) } } });
    expect(jobStatus(job, {}, NOW).timeline).toEqual({
      firstFaultAt: later(-171),
      detectedAt: later(-20),
      admittedAt: later(0),
    });
    expect(jobStatus(repairJob(), {}, NOW).timeline).toEqual({ admittedAt: later(0) });
  });

  it('cuts messages to what a status takes', () => {
    const [step] = records('s1 Failed', { message: 'x'.repeat(500) });
    const status = jobStatus(repairJob(), step ? { step } : {}, NOW);
    expect(status.steps?.[0]?.message?.length).toBe(256);
  });
});
