import { describe, expect, it } from 'vitest';
import type { JobOutcome } from '../../../../src/api/generated/types.ts';
import {
  isMachineReported,
  machineReport,
  needsPersonFinding,
} from '../../../../src/controllers/remedyjob/plan/machine-report.ts';
import { condition } from '../../../support/builders.ts';
import { jobMachine, later, observation, records, repairJob } from '../jobs.ts';

const outcome = { class: 'Succeeded' } as const;
const acted = repairJob({ status: { outcome, steps: records('s1 Succeeded') } });
const JOB = acted.metadata.name;

const changed = (steps: string, code: string): boolean | undefined => {
  const job = repairJob({ status: { outcome: { class: 'Transient' }, steps: records(steps, { code }) } });
  return machineReport(observation({ job }), undefined).repairs?.recent?.[0]?.changed;
};

describe('machineReport', () => {
  it('counts the repair, newest first, and keeps ten', () => {
    const recent = Array.from({ length: 10 }, (_, n) => ({ job: `job-${n}` }));
    const found = observation({ job: acted, machine: jobMachine({ repairs: { total: 12, recent } }) });
    const { repairs } = machineReport(found, undefined);
    expect(repairs?.total).toBe(13);
    expect(repairs?.recent?.map(({ job }) => job)).toEqual([
      JOB,
      ...recent.slice(0, 9).map(({ job }) => job),
    ]);
    expect(repairs?.recent?.[0]).toEqual({
      job: JOB,
      risk: 'Node',
      at: later(0),
      outcome: 'Succeeded',
      changed: false,
    });
  });

  it('R26 states of a repair that failed whether it may have changed the node', () => {
    expect(changed('s4 Failed', 'Refused')).toBe(false);
    expect(changed('s4 Failed', 'TimedOut')).toBeUndefined();
  });

  it('R30 counts a repair once, and a job that did nothing not at all', () => {
    const repairs = { total: 1, recent: [{ job: JOB }] };
    expect(isMachineReported(observation({ job: acted, machine: jobMachine({ repairs }) }), undefined)).toBe(
      true,
    );
    expect(isMachineReported(observation({ job: acted }), undefined)).toBe(false);
    expect(isMachineReported(observation({ job: repairJob({ status: { outcome } }) }), undefined)).toBe(true);
  });

  it('keeps the condition of an earlier job', () => {
    const before = condition('NeedsPerson', 'True');
    const machine = jobMachine({ conditions: [before, condition('Ready', 'True')] });
    expect(machineReport(observation({ job: acted, machine }), undefined).conditions).toEqual([before]);
  });
});

describe('needsPersonFinding', () => {
  const sick = jobMachine({ conditions: [condition('NeedsPerson', 'True')] });
  it.each<[outcome: JobOutcome, machine: typeof sick, expected: string | undefined]>([
    [{ class: 'HandedOff', message: 'ticket' }, jobMachine(), `True: job ${JOB}: ticket`],
    [{ class: 'Succeeded' }, sick, `False: job ${JOB} has repaired the machine`],
    [{ class: 'Succeeded' }, jobMachine(), undefined],
    [{ class: 'Transient' }, sick, undefined],
  ])('after %j', (end, machine, expected) => {
    const found = needsPersonFinding(observation({ machine, job: acted }), end);
    expect(found && `${found.status}: ${found.message}`).toBe(expected);
  });
});
