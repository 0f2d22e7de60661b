import { describe, expect, it } from 'vitest';
import type { JobStepStatus } from '../../../src/api/generated/types.ts';
import {
  afterFailure,
  answerOf,
  currentStep,
  isDisruptive,
  isPermanent,
} from '../../../src/api/status/step-records.ts';
import { agentAnswer, jobStep, records, repairJob } from '../../controllers/remedyjob/jobs.ts';

const failed = (fields: Partial<JobStepStatus>): JobStepStatus => ({
  id: 's1',
  state: 'Failed',
  tries: 1,
  ...fields,
});

describe('afterFailure', () => {
  it.each([
    'ResetFailed',
    'PartlyReset',
    'NoGPU',
    'ProgramMissing',
    'DriverNotLoaded',
    'NotSupported',
    'NotPermitted',
    'GPULost',
  ])('AGT-51 repeats no reset of a GPU that ended with %s', (code) => {
    const step = jobStep('s1', 'ResetGPU', { retries: 3, onFailure: 'NextRung' });
    const record = { id: 's1', state: 'Failed', tries: 1, code } as const;
    expect(afterFailure(step, record)).toBe('NextRung');
    expect(isPermanent(record)).toBe(!['ResetFailed', 'PartlyReset'].includes(code));
  });

  const step = jobStep('s1', 'Reboot', { retries: 1, onFailure: 'NextRung', onTimeout: 'RequestApproval' });
  it.each([
    [{ code: 'Failed' }, 'Retry'],
    [{ code: 'Failed', tries: 2 }, 'NextRung'],
    [{ code: 'AgentSilent' }, 'NextRung'],
    [{ code: 'ApprovalRefused' }, 'NextRung'],
    [{ code: 'TimedOut' }, 'RequestApproval'],
    [{ state: 'Ambiguous' }, 'Ambiguous'],
  ] as const)('of %j is %s', (fields, expected) => {
    expect(afterFailure(step, failed(fields))).toBe(expected);
  });

  it('goes on after a step whose end is not needed, also when it is unknown', () => {
    const optional = jobStep('s1', 'CleanDisk', { onFailure: 'Continue' });
    expect(afterFailure(optional, failed({ state: 'Ambiguous' }))).toBe('Continue');
  });
});

describe('currentStep', () => {
  it.each([
    [[], 's1'],
    [records('s1 Failed'), 's2'],
    [records('s1 Succeeded, s2 Failed'), 's2'],
    [records('s1 Skipped, s2 Undone'), 's3'],
    [records('s1 Succeeded, s2 Succeeded, s3 Succeeded, s4 Succeeded, s5 Succeeded'), 'v1'],
  ])('after %j is %s', (steps, expected) => {
    expect(currentStep(repairJob({ status: { steps } }))?.id).toBe(expected);
  });
});

describe('a record', () => {
  it('has the answer of its own try', () => {
    const job = repairJob({ status: { agent: agentAnswer('s1', 'Failed') } });
    expect(answerOf(job, failed({ tries: 1 }))?.state).toBe('Failed');
    expect(answerOf(job, failed({ tries: 2 }))).toBeUndefined();
  });

  it('is disruptive by the catalog, and not by what the job calls it', () => {
    expect(isDisruptive(jobStep('s1', 'Reboot', { risk: 'None' }))).toBe(true);
    expect(isDisruptive(jobStep('s1', 'Uncordon', { risk: 'Node' }))).toBe(false);
    expect(isDisruptive({ ...jobStep('s1', 'Reboot'), step: 'Reboot@v9' })).toBe(false);
  });
});
