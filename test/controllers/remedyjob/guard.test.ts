/** Each guard of a disruptive step × each change: what stops, and what is undone then. */
import { describe, expect, it } from 'vitest';
import type { JobInput } from '../../../src/controllers/remedyjob/observe/observe.ts';
import { planJob } from '../../../src/controllers/remedyjob/plan/plan.ts';
import { NOW } from '../../support/builders.ts';
import {
  agentAnswer,
  CORDONED,
  explained,
  type JobFields,
  jobMachine,
  jobNode,
  later,
  observation,
  records,
  repairJob,
} from './jobs.ts';

const BEFORE_REBOOT = 's1 Succeeded, s2 Succeeded, s3 Succeeded';
const held = {
  ...jobMachine(),
  spec: { ...jobMachine().spec, hold: { reason: 'test', scope: 'All' as const } },
};
const uncordoned = jobNode({ annotations: CORDONED.annotations });

function atReboot(fields: Partial<JobInput>, job: JobFields = {}): string {
  const status = { steps: records(BEFORE_REBOOT), ...job.status };
  const planned = repairJob({ ...job, status });
  return explained(planJob(observation({ node: jobNode(CORDONED), job: planned, ...fields })));
}

describe('the guard of a disruptive step', () => {
  it.each<[change: string, fields: Partial<JobInput>, expected: string]>([
    ['nothing has changed', {}, 'ReleaseStep s4 try 1: Reboot@v1: try 1'],
    ['the node is silent', { rule: 'Indeterminate' }, 'ReleaseStep s4 try 1: Reboot@v1: try 1'],
    ['the gate is closed', { rule: 'Held' }, 'ReleaseStep s4 try 1: Reboot@v1: try 1'],
    [
      'the rule is refuted',
      { rule: 'NoMatch' },
      'Write Cancelled/RuleRefuted withdraw: NodeRemedier kernel-hang no longer matches',
    ],
    [
      'a person has uncordoned the node',
      { node: uncordoned },
      'Write Cancelled/UncordonedByPerson withdraw: a person has uncordoned the node',
    ],
    [
      'a person holds the machine',
      { machine: held },
      'Write Cancelled/Held withdraw: the machine is held: test',
    ],
    [
      'a person has annotated the Node',
      {
        node: jobNode({
          ...CORDONED,
          annotations: { ...CORDONED.annotations, 'kubenode.dev/hold': 'my node' },
        }),
      },
      'Write Cancelled/Held withdraw: the machine is held: my node',
    ],
    [
      'the node has booted',
      { node: jobNode({ ...CORDONED, bootID: 'boot-9' }) },
      'Write Cancelled/BootChanged withdraw: the node has booted since the job began: boot-9',
    ],
    [
      'the Node is another one of the same name',
      { node: jobNode({ ...CORDONED, uid: 'node-2' }) },
      'Write Superseded/NodeReplaced withdraw: the Node with UID node-1 was deleted',
    ],
    [
      'the Node was deleted',
      { node: undefined },
      'Write Superseded/NodeReplaced withdraw: the Node with UID node-1 was deleted',
    ],
    [
      'the Machine was deleted',
      { machine: undefined },
      'Write Superseded/NodeReplaced withdraw: Machine m with UID uid-m was deleted',
    ],
  ])('R33 R36 decides before the reboot when %s', (_, fields, expected) => {
    expect(atReboot(fields)).toBe(expected);
  });

  it.each(['', 's1', 's1 s2', 's1 s2 s3', 's1 s2 s3 s4', 's1 s2 s3 s4 s5'])(
    'R36 ends on another Node of the same name, and without one, after the steps %j',
    (done) => {
      const ended = done.split(' ').filter(Boolean);
      const steps = ended.flatMap((id) => records(`${id} Succeeded`));
      const job = repairJob({ status: { steps } });
      for (const node of [undefined, jobNode({ ...CORDONED, uid: 'node-2' })]) {
        expect(explained(planJob(observation({ node, job })))).toMatch(
          /^Write Superseded\/NodeReplaced withdraw/,
        );
      }
    },
  );

  it('R33 lets a step without risk begin although the rule is refuted', () => {
    expect(explained(planJob(observation({ rule: 'NoMatch' })))).toMatch(/^ReleaseStep s1/);
  });

  it('R33 expects another boot once the job has rebooted the node itself', () => {
    const steps = records(`${BEFORE_REBOOT}, s4 Succeeded`);
    const node = jobNode({ ...CORDONED, bootID: 'boot-2' });
    const job = repairJob({ status: { steps } });
    expect(explained(planJob(observation({ node, job })))).toBe('Write s5=Intended: WaitForBoot@v1: try 1');
  });

  it('R33 lets a reboot end that the agent has begun', () => {
    const steps = records(`${BEFORE_REBOOT}, s4 Intended`);
    const agent = agentAnswer('s4', 'Running', { startedAt: later(0) });
    const fields = { rule: 'NoMatch', now: NOW } as const;
    expect(atReboot(fields, { status: { steps, agent } })).toBe(
      'Write s4=Running withdraw: Reboot@v1 has begun',
    );
  });
});

describe('a job that stops', () => {
  const released = { steps: records(`${BEFORE_REBOOT}, s4 Intended`) };
  const since = (seconds: number): NonNullable<JobFields['status']> => ({
    ...released,
    conditions: [
      {
        type: 'Guarded',
        status: 'False',
        reason: 'RuleRefuted',
        message: 'the fault has ended',
        lastTransitionTime: later(-seconds),
      },
    ],
  });

  it('R33 withdraws a release first, and ends when the agent has had time to answer', () => {
    const withdrawn = 'Wait withdraw (Stopping): NodeRemedier kernel-hang no longer matches';
    expect(atReboot({ rule: 'NoMatch' }, { status: released })).toBe(withdrawn);
    expect(atReboot({}, { status: since(14) })).toBe('Wait withdraw (Stopping): the fault has ended');
    expect(atReboot({}, { status: since(15) })).toBe(
      'Write s4=Failed RuleRefuted Cancelled/RuleRefuted withdraw: the fault has ended',
    );
  });

  it('waits for what the agent has begun, but never beyond the deadline', () => {
    const agent = agentAnswer('s4', 'Running', { startedAt: later(-10) });
    const cancel = { by: 'anna', reason: 'test' };
    const status = { ...released, agent };
    expect(atReboot({}, { status, spec: { cancel } })).toBe(
      'Wait withdraw (Stopping): cancelled by anna: test',
    );
    expect(atReboot({}, { status, spec: { deadline: later(0) } })).toBe(
      `Write s4=Ambiguous DeadlineExceeded Ambiguous/DeadlineExceeded withdraw: the deadline ${later(0)} has passed`,
    );
  });

  it('stops before its next step when it is cancelled or deleted', () => {
    const deletionTimestamp = later(0);
    expect(atReboot({}, { spec: { cancel: { by: 'anna', reason: 'test' } } })).toBe(
      'Write Cancelled/Cancelled withdraw: cancelled by anna: test',
    );
    expect(atReboot({}, { metadata: { deletionTimestamp } })).toBe(
      'Write Cancelled/Cancelled withdraw: the job was deleted',
    );
  });
});
