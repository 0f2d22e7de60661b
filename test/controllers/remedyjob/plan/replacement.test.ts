import { describe, expect, it } from 'vitest';
import type {
  JobReplacement,
  Machine,
  MachineReplacement,
  RemedyOperationJob,
} from '../../../../src/api/generated/types.ts';
import {
  isReplaced,
  type JobReplacementInput,
  planReplacementStep,
} from '../../../../src/controllers/remedyjob/plan/replacement.ts';
import { ago, condition, machine } from '../../../support/builders.ts';
import { jobMachine, jobStep, observation, records, repairJob } from '../jobs.ts';

const SET = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'MachineSet', name: 'web', uid: 'set-1' };
const OWNED = [{ ...SET, controller: true }];
const ASKED: JobReplacement = { machineSet: 'web', requestedAt: ago(10) };
const MARK: MachineReplacement = {
  job: 'm-kernel-hang-7c1f02ab-r1-a1',
  grant: 'g-7-1',
  fence: 7,
  replacementFirst: false,
  wasReady: false,
  since: ago(5),
};
const PLAN = [jobStep('s1', 'ReplaceMachine')];

function sick(
  metadata: Partial<Machine['metadata']> = {},
  status: Partial<NonNullable<Machine['status']>> = {},
): Machine {
  const found = jobMachine({ conditions: [condition('Ready', 'False')], ...status });
  return { ...found, metadata: { ...found.metadata, ownerReferences: OWNED, ...metadata } };
}

function other(name: string, metadata: Partial<Machine['metadata']> = {}): Machine {
  const labels = { 'kubenode.dev/machineset': 'web' };
  return machine(name, { metadata: { uid: `uid-${name}`, creationTimestamp: ago(20), labels, ...metadata } });
}

interface Situation extends Partial<Omit<JobReplacementInput, 'job'>> {
  readonly replacement?: JobReplacement;
  readonly steps?: string;
}

function situation({ replacement, steps = 's1 Running', ...fields }: Situation): JobReplacementInput {
  const job = repairJob({
    metadata: { creationTimestamp: ago(60) },
    spec: { plan: PLAN },
    status: { steps: records(steps), ...(replacement ? { replacement } : {}) },
  });
  return { ...observation({ job, machine: sick() }), machines: [], jobs: [job], ...fields };
}

/** A job that replaces another machine of the set, and is older than the job of the situation where `created` does not tell. */
function otherJob(replacement: JobReplacement, created = ago(70)): RemedyOperationJob {
  const job = repairJob({
    metadata: { creationTimestamp: created },
    spec: { plan: PLAN, machine: { name: 'o', uid: 'uid-other' } },
    status: { steps: records('s1 Running'), replacement },
  });
  return { ...job, metadata: { ...job.metadata, name: 'other' } };
}

function ended(job: RemedyOperationJob): RemedyOperationJob {
  return { ...job, status: { ...job.status, conditions: [], outcome: { class: 'Transient' } } };
}

function explain(fields: Situation, replacementFirst = false): string {
  const decision = planReplacementStep(situation(fields), { replacementFirst });
  if (decision.type === 'Fail') return `Fail ${decision.code}: ${decision.message}`;
  if (decision.type === 'Wait') return `Wait for ${decision.set}: ${decision.message}`;
  if (decision.type === 'Mark') {
    const { replacementFirst: first, wasReady, grant, fence } = decision.mark;
    return `Mark ${grant}/${fence} first ${first} ready ${wasReady}`;
  }
  const { machineSet, machine: name = '' } = decision.replacement;
  return `${decision.type} ${machineSet} ${name}`.trim();
}

/** Another machine that has its name. */
const RENAMED = other('m', { uid: 'uid-new' });
const TWO = [other('web-1'), other('web-2')];
const DELETING = sick({ deletionTimestamp: ago(1) });
const KEPT = sick(
  { deletionTimestamp: ago(5) },
  {
    kept: { job: MARK.job, since: ago(4), until: ago(-600), max: 1 },
  },
);
const WELL = { presentFault: { outcome: 'NoMatch', clearSeconds: 600 } } as const;

describe('planReplacementStep', () => {
  it.each<[name: string, fields: Situation, want: string]>([
    ['records its intent before it marks the machine', {}, 'Record web'],
    ['marks the machine', { replacement: ASKED }, 'Mark g-7-1/7 first false ready false'],
    [
      'records that the machine was Ready',
      { replacement: ASKED, machine: sick({}, { conditions: [condition('Ready', 'True')] }) },
      'Mark g-7-1/7 first false ready true',
    ],
    [
      'replaces the mark of a job that ended',
      { replacement: ASKED, machine: sick({}, { replacement: { ...MARK, job: 'other' } }) },
      'Mark g-7-1/7 first false ready false',
    ],
    [
      'waits for the set once it is marked',
      { replacement: ASKED, machine: sick({}, { replacement: MARK }) },
      'Wait for web: MachineSet web is to replace the machine',
    ],
    [
      'waits while the machine is deleted, whatever the rule finds',
      { replacement: ASKED, machine: DELETING, ...WELL },
      'Wait for web: Machine m is being deleted',
    ],
    [
      'MAC-40 waits for the Node of a machine that is to be kept',
      { replacement: ASKED, machine: KEPT, machines: [KEPT, other('web-1')] },
      'Wait for web: Machine m is being deleted',
    ],
    [
      'MAC-40 waits for the new machine when the other is kept',
      { replacement: ASKED, machine: KEPT, node: undefined, machines: [KEPT] },
      'Wait for web: MachineSet web creates another machine',
    ],
    [
      'MAC-40 is done while its own machine is kept',
      { replacement: ASKED, machine: KEPT, node: undefined, machines: [KEPT, other('web-1')] },
      'Done web web-1',
    ],
    [
      'waits for the new machine',
      { replacement: ASKED, machine: undefined },
      'Wait for web: MachineSet web creates another machine',
    ],
    [
      'is done when another machine of the set exists',
      { replacement: ASKED, machine: undefined, machines: [other('web-2'), other('web-1')] },
      'Done web web-1',
    ],
    [
      'is done also when the new machine has the name of the old one',
      { replacement: ASKED, machine: RENAMED, machines: [RENAMED] },
      'Done web m',
    ],
    [
      'counts no machine that was there before, of another set, or that is being deleted',
      {
        replacement: ASKED,
        machine: undefined,
        machines: [
          other('a', { creationTimestamp: ago(61) }),
          other('b', { labels: { 'kubenode.dev/machineset': 'db' } }),
          other('c', { deletionTimestamp: ago(1) }),
        ],
      },
      'Wait for web: MachineSet web creates another machine',
    ],
    [
      'counts no machine that is the replacement of another job',
      {
        replacement: ASKED,
        machine: undefined,
        machines: [other('web-1'), other('web-2')],
        jobs: [otherJob({ ...ASKED, machine: 'web-1', uid: 'uid-web-1' })],
      },
      'Done web web-2',
    ],
    [
      'leaves the first machine to a job that waits for longer',
      { replacement: ASKED, machine: undefined, machines: TWO, jobs: [otherJob(ASKED)] },
      'Done web web-2',
    ],
    [
      'takes the first machine before a job that waits for a shorter time',
      { replacement: ASKED, machine: undefined, machines: TWO, jobs: [otherJob(ASKED, ago(50))] },
      'Done web web-1',
    ],
    [
      'waits while the only new machine is for a job that waits for longer',
      { replacement: ASKED, machine: undefined, machines: [other('web-1')], jobs: [otherJob(ASKED)] },
      'Wait for web: MachineSet web creates another machine',
    ],
    [
      'leaves no machine to a job whose own machine is still there',
      {
        replacement: ASKED,
        machine: undefined,
        machines: [other('web-1'), other('old', { creationTimestamp: ago(900), uid: 'uid-other' })],
        jobs: [otherJob(ASKED)],
      },
      'Done web web-1',
    ],
    [
      'leaves no machine to a job of another set, or one that has ended',
      {
        replacement: ASKED,
        machine: undefined,
        machines: [other('web-1')],
        jobs: [otherJob({ ...ASKED, machineSet: 'db' }), ended(otherJob(ASKED))],
      },
      'Done web web-1',
    ],
    [
      'fails for a machine without a set, and names it',
      { machine: sick({ ownerReferences: [] }) },
      'Fail NoMachineSet: Machine m belongs to no MachineSet, which could replace it. Replace it by hand',
    ],
    [
      'fails for a machine that does not exist',
      { machine: undefined },
      'Fail NotFound: Machine m does not exist',
    ],
    [
      'R33 marks no machine that came back, also when the rule has changed since',
      { replacement: ASKED, ...WELL },
      'Fail MachineRecovered: NodeRemedier kernel-hang does not match any more',
    ],
    [
      'R33 withdraws from a machine that came back before its deletion',
      { replacement: ASKED, machine: sick({}, { replacement: MARK }), ...WELL },
      'Fail MachineRecovered: NodeRemedier kernel-hang does not match any more',
    ],
    [
      'does not take silence for recovery',
      { replacement: ASKED, presentFault: { outcome: 'Indeterminate', clearSeconds: 600 } },
      'Mark g-7-1/7 first false ready false',
    ],
  ])('%s', (_, fields, want) => {
    expect(explain(fields)).toBe(want);
  });

  it('MAC-40 passes on how long the machine is kept', () => {
    const keepFailed = { holdSeconds: 600, max: 2 };
    const input = situation({ replacement: ASKED });
    expect(planReplacementStep(input, { replacementFirst: false, keepFailed })).toMatchObject({
      mark: { keepFailed },
    });
    expect(planReplacementStep(input, { replacementFirst: false })).not.toHaveProperty('mark.keepFailed');
  });

  it('MAC-40 leaves the first machine to an older job whose own machine is kept', () => {
    const older = { ...otherJob(ASKED), metadata: { ...otherJob(ASKED).metadata, name: 'other' } };
    const kept = { ...KEPT, metadata: { ...KEPT.metadata, name: 'o', uid: 'uid-other' } };
    const machines = [kept, other('web-1'), other('web-2')];
    expect(explain({ replacement: ASKED, machine: undefined, machines, jobs: [older] })).toBe(
      'Done web web-2',
    );
  });

  it('passes on that the replacement comes first', () => {
    expect(explain({ replacement: ASKED }, true)).toBe('Mark g-7-1/7 first true ready false');
  });
});

describe('isReplaced', () => {
  it.each<[name: string, fields: Situation, want: boolean]>([
    ['while the machine is there', { replacement: ASKED }, false],
    ['once its deletion has begun', { replacement: ASKED, machine: DELETING }, true],
    ['when it does not exist', { replacement: ASKED, machine: undefined }, true],
    ['when another one has its name', { replacement: ASKED, machine: RENAMED }, true],
    ['after the step', { replacement: ASKED, machine: undefined, steps: 's1 Succeeded' }, true],
    ['after the step has failed', { replacement: ASKED, machine: undefined, steps: 's1 Failed' }, true],
    ['when the job did not ask for it', { machine: undefined }, false],
  ])('of a machine is %s', (_, fields, want) => {
    expect(isReplaced(situation(fields))).toBe(want);
  });
});
