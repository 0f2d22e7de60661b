import { describe, expect, it } from 'vitest';
import type { JobInput } from '../../../../src/controllers/remedyjob/observe/observe.ts';
import { planJob } from '../../../../src/controllers/remedyjob/plan/plan.ts';
import { NOW } from '../../../support/builders.ts';
import {
  agentAnswer,
  explained,
  type JobFields,
  jobStep,
  later,
  observation,
  records,
  repairJob,
} from '../jobs.ts';

function planned(job: JobFields, fields: Partial<JobInput> = {}): string {
  return explained(planJob(observation({ job: repairJob(job), ...fields })));
}

const DONE = 's1 Succeeded, s2 Succeeded, s3 Succeeded, s4 Succeeded, s5 Succeeded';
const executed = { timeline: { executedAt: later(0) } };

describe('planJob', () => {
  it.each<[name: string, job: JobFields, expected: string]>([
    ['releases the first step of the agent', {}, 'ReleaseStep s1 try 1: CollectDiagnostics@v1: try 1'],
    [
      'records a step before it is done',
      { status: { steps: records('s1 Succeeded') } },
      'Write s2=Intended: Cordon@v1: try 1',
    ],
    [
      'does a step that is recorded',
      { status: { steps: records('s1 Succeeded, s2 Intended') } },
      'RunStep s2 try 1: Cordon@v1',
    ],
    [
      'goes on after a failure that may be ignored',
      { status: { steps: records('s1 Failed') } },
      'Write s2=Intended: Cordon@v1: try 1',
    ],
    [
      'ends at a failure that may not, so that the rung can be tried again',
      { status: { steps: records('s1 Succeeded, s2 Failed', { code: 'Denied', message: 'no' }) } },
      'Write Transient/Denied withdraw: s2 Cordon@v1: no',
    ],
    [
      'ends a step that takes too long',
      { status: { steps: records('s1 Succeeded, s2 Running', { startedAt: later(-301) }) } },
      'Write s2=Failed TimedOut: not done in 300 s',
    ],
    [
      'asks no further try of what may have happened',
      { status: { steps: records('s1 Succeeded, s2 Succeeded, s3 Succeeded, s4 Ambiguous') } },
      'Write Ambiguous/Ambiguous withdraw: s4 Reboot@v1: ',
    ],
    [
      'notes the end of its plan',
      { status: { steps: records(DONE) } },
      'Write executedAt: all steps are done',
    ],
    [
      'verifies after its plan',
      { status: { steps: records(DONE), ...executed } },
      'Wait (FactsUnknown): facts of the verification are unknown',
    ],
    [
      'does the steps after the verification',
      { status: { steps: records(DONE), timeline: { ...executed.timeline, verifiedAt: later(0) } } },
      'Write v1=Intended: Uncordon@v1: try 1',
    ],
    [
      'succeeds when nothing is left',
      {
        status: {
          steps: records(`${DONE}, v1 Succeeded`),
          timeline: { ...executed.timeline, verifiedAt: later(0) },
        },
      },
      'Write Succeeded/Verified withdraw: the repair is verified',
    ],
    [
      'settles once it has an outcome',
      { status: { outcome: { class: 'Succeeded' } } },
      'SettleGrant settledAt: Succeeded',
    ],
  ])('%s', (_, job, expected) => {
    expect(planned(job)).toBe(expected);
  });

  it('tries a failed step again while it has retries, and goes to the next rung where the plan asks for it', () => {
    const plan = [jobStep('s1', 'WaitForBoot', { retries: 1, onFailure: 'NextRung' })];
    const failed = (tries: number): JobFields => ({
      spec: { plan },
      status: { steps: records('s1 Failed', { tries }) },
    });
    expect(planned(failed(1))).toBe('Write s1=Intended: WaitForBoot@v1: try 2');
    expect(planned(failed(2))).toBe('Write Permanent/Failed withdraw: s1 WaitForBoot@v1: ');
  });

  it('ends as Permanent, without another try, when the host or the rule has to change first', () => {
    const plan = [jobStep('s1', 'RestartService', { retries: 2 })];
    const endOf = (code: string): string =>
      planned({ spec: { plan }, status: { steps: records('s1 Failed', { code, message: 'no', tries: 1 }) } });
    expect(endOf('NotAllowed')).toBe('Write Permanent/NotAllowed withdraw: s1 RestartService@v1: no');
    expect(endOf('UnitNotFound')).toBe('Write Permanent/UnitNotFound withdraw: s1 RestartService@v1: no');
    expect(endOf('TooOften')).toBe('ReleaseStep s1 try 2: RestartService@v1: try 2');
  });

  it('R35 keeps a drain going after its time while a person may approve', () => {
    const plan = [jobStep('s1', 'Drain', { onTimeout: 'RequestApproval' })];
    const steps = records('s1 Running', { startedAt: later(-900) });
    expect(planJob(observation({ job: repairJob({ spec: { plan }, status: { steps } }) }))).toMatchObject({
      type: 'RunStep',
      isOverdue: true,
    });
  });

  it('asks a person about a step of the agent that timed out, and does it again once it is approved', () => {
    const plan = [jobStep('s1', 'RestartService', { onTimeout: 'RequestApproval' })];
    const job = (steps: ReturnType<typeof records>): JobFields => ({ spec: { plan }, status: { steps } });
    expect(planned(job(records('s1 Failed', { code: 'TimedOut' })))).toBe(
      'AskApproval s1 try 1: RestartService@v1 timed out',
    );
    expect(planned(job(records('s1 Pending')))).toBe('ReleaseStep s1 try 2: RestartService@v1: try 2');
  });

  it('hands the case to a person as the end of the last rung', () => {
    const spec = { plan: [jobStep('s1', 'HandOff')], onVerified: [] };
    const steps = records('s1 Succeeded', { message: 'ticket for node-sre' });
    const { verify: _, ...others } = repairJob({ spec, status: { steps, ...executed } }).spec;
    const job = { ...repairJob({ spec, status: { steps, ...executed } }), spec: others };
    expect(explained(planJob(observation({ job })))).toBe(
      'Write HandedOff/HandedOff withdraw: ticket for node-sre',
    );
  });

  it('R31 takes an answer that has come before it stops', () => {
    const steps = records('s1 Succeeded, s2 Succeeded, s3 Succeeded, s4 Running');
    const agent = agentAnswer('s4', 'Failed', { code: 'Refused' });
    const job = { spec: { deadline: NOW.toISOString() }, status: { steps, agent } };
    expect(planned(job)).toBe('Write s4=Failed Refused withdraw: s4: Failed');
  });
});
