import { describe, expect, it } from 'vitest';
import type { JobOutcome } from '../../../../src/api/generated/types.ts';
import { FINALIZER_SETTLE } from '../../../../src/api/names.ts';
import type { JobInput } from '../../../../src/controllers/remedyjob/observe/observe.ts';
import { planSettlement, settleMode } from '../../../../src/controllers/remedyjob/plan/settlement.ts';
import { condition } from '../../../support/builders.ts';
import {
  CORDONED,
  explained,
  type JobFields,
  jobMachine,
  jobNode,
  later,
  observation,
  repairJob,
} from '../jobs.ts';

describe('settleMode', () => {
  it.each<[kind: JobOutcome['class'], reason: string, expected: string]>([
    ['Succeeded', 'Verified', 'Undo'],
    ['Superseded', 'NodeReplaced', 'Undo'],
    ['Cancelled', 'RuleRefuted', 'Undo'],
    ['Cancelled', 'UncordonedByPerson', 'Undo'],
    ['Cancelled', 'Held', 'KeepCordoned'],
    ['Transient', 'NotVerified', 'KeepCordoned'],
    ['Permanent', 'Failed', 'KeepCordoned'],
    ['Ambiguous', 'AgentSilent', 'KeepCordoned'],
    ['HandedOff', 'HandedOff', 'HandOver'],
  ])('of %s because of %s is %s', (kind, reason, expected) => {
    expect(settleMode(repairJob(), { class: kind, reason })).toBe(expected);
  });

  it('undoes after a failure where the job asks for it', () => {
    const { settle } = repairJob().spec;
    const job = repairJob({ spec: { settle: { ...settle, aborted: 'Undo' } } });
    expect(settleMode(job, { class: 'Transient', reason: 'NotVerified' })).toBe('Undo');
  });
});

describe('a settled job that has kept its cordon', () => {
  const outcome = { class: 'Transient', reason: 'NotVerified', message: 'not verified' } as const;
  const settled = (seconds: number): JobFields => ({
    status: {
      outcome,
      conditions: [condition('Settled', 'True')],
      timeline: { settledAt: later(-seconds) },
    },
  });
  const held = {
    ...jobMachine(),
    spec: { ...jobMachine().spec, hold: { reason: 'mine', scope: 'All' as const } },
  };
  const reported = jobMachine({
    conditions: [
      condition('NeedsPerson', 'True', {
        message: 'job m-kernel-hang-7c1f02ab-r1-a1 has left the node cordoned: not verified',
      }),
    ],
  });

  function planned(seconds: number, fields: Partial<JobInput> = {}): string {
    const job = repairJob({ ...settled(seconds), metadata: { finalizers: [] } });
    return explained(planSettlement(observation({ node: jobNode(CORDONED), job, ...fields }), outcome));
  }

  it.each<[name: string, seconds: number, fields: Partial<JobInput>, expected: string]>([
    ['keeps it for its time', 3599, {}, 'Wait: the node stays cordoned'],
    [
      'removes its mark when a person has uncordoned the node',
      10,
      { node: jobNode({ ...CORDONED, spec: {} }) },
      'PatchNode: a person has uncordoned the node',
    ],
    ['gives it back when the fault has ended', 10, { rule: 'NoMatch' }, 'PatchNode: the fault has cleared'],
    [
      'changes nothing while a person holds the machine',
      10,
      { rule: 'NoMatch', machine: held },
      'Wait: the machine is held',
    ],
    [
      'tells that a person is needed after its time',
      3600,
      {},
      'ReportMachine: job m-kernel-hang-7c1f02ab-r1-a1 has left the node cordoned: not verified',
    ],
    [
      'hands it to the person then',
      3600,
      { machine: reported },
      'PatchNode: job m-kernel-hang-7c1f02ab-r1-a1 has left the node cordoned: not verified',
    ],
    [
      'ends when another job has taken it over',
      10,
      { node: jobNode({ ...CORDONED, annotations: { 'kubenode.dev/cordoned-by': 'g-9-1' } }) },
      'Nothing: the job is settled',
    ],
    [
      'ends when the Node is another one',
      10,
      { node: jobNode({ ...CORDONED, uid: 'node-2' }) },
      'Nothing: the job is settled',
    ],
  ])('R34 gives its cordon back or keeps it: %s', (_, seconds, fields, expected) => {
    expect(planned(seconds, fields)).toBe(expected);
  });

  it('R30 removes its finalizer first, so that the next job of the case can begin', () => {
    const job = {
      ...repairJob(settled(10)),
      metadata: { ...repairJob().metadata, finalizers: [FINALIZER_SETTLE] },
    };
    expect(planned(10, { job })).toBe('RemoveFinalizer: the grant is settled');
  });
});
