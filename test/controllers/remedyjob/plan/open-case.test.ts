import { describe, expect, it } from 'vitest';
import type { JobInput } from '../../../../src/controllers/remedyjob/observe/observe.ts';
import type { JobDecision } from '../../../../src/controllers/remedyjob/plan/decision.ts';
import { planOpenCase } from '../../../../src/controllers/remedyjob/plan/open-case.ts';
import { condition } from '../../../support/builders.ts';
import { explained, jobMachine, jobNode, later, observation, repairJob } from '../jobs.ts';

const NAME = repairJob().metadata.name;

function planned(fields: Partial<JobInput>, message = `job ${NAME}: ticket`): JobDecision | undefined {
  const machine = jobMachine({ conditions: [{ ...condition('NeedsPerson', 'True'), message }] });
  return planOpenCase(observation({ machine, ...fields }));
}

function clearing(since: number): Partial<JobInput> {
  const waiting = { reason: 'FaultClearing', since: later(since), message: '' };
  return {
    job: repairJob({ status: { waiting } }),
    presentFault: { outcome: 'NoMatch', clearSeconds: 600 },
  };
}

describe('planOpenCase', () => {
  it.each<[string, Partial<JobInput>, expected: string]>([
    ['the fault is still there', {}, 'Wait (NeedsPerson)'],
    ['the fault is unknown', { presentFault: { outcome: 'Indeterminate', clearSeconds: 600 } }, 'Wait'],
    ['the gate is closed', { presentFault: { outcome: 'Held', clearSeconds: 600 } }, 'Wait'],
    ['the fault went away now', { presentFault: { outcome: 'NoMatch', clearSeconds: 600 } }, 'Wait'],
    ['the fault went away a moment ago', clearing(-599), 'Wait'],
    ['the fault stayed away', clearing(-600), `ReportMachine: job ${NAME}: the fault stayed away for 600 s`],
    [
      'the rule does not clear for a time',
      { presentFault: { outcome: 'NoMatch', clearSeconds: 0 } },
      `ReportMachine: job ${NAME}: the fault stayed away for 0 s`,
    ],
    [
      'the rule was deleted',
      { presentFault: undefined },
      `ReportMachine: job ${NAME}: NodeRemedier kernel-hang was deleted`,
    ],
    [
      'the Node was replaced',
      { node: jobNode({ uid: 'node-2' }) },
      `ReportMachine: job ${NAME}: the Node was replaced`,
    ],
    ['the Node is missing', { node: undefined }, 'Wait'],
  ])('R36 keeps a person in charge until the case is closed: %s', (_, fields, expected) => {
    expect(explained(planned(fields)).slice(0, expected.length)).toBe(expected);
  });

  it('begins to count again when the fault came back meanwhile', () => {
    const back = planned({ ...clearing(-599), presentFault: { outcome: 'Match', clearSeconds: 600 } });
    expect(back).toMatchObject({ change: { wait: { reason: 'NeedsPerson' } } });
    expect(planned(clearing(-599))).toMatchObject({ requeueAt: new Date(later(1)) });
  });

  it.each([
    ['another job', 'job m-kernel-hang-7c1f02ab-r1-a2: ticket'],
    ['a job whose name begins so', `job ${NAME}0: ticket`],
    ['something else', 'broken'],
  ])('leaves what %s reported', (_, message) => {
    expect(planned({ presentFault: undefined }, message)).toBeUndefined();
  });

  it('leaves another Machine of the same name, and one that needs no person', () => {
    const message = `job ${NAME}: ticket`;
    const machine = jobMachine({ conditions: [{ ...condition('NeedsPerson', 'False'), message }] });
    expect(planOpenCase(observation({ machine, presentFault: undefined }))).toBeUndefined();
    const replaced = { ...machine, metadata: { ...machine.metadata, uid: 'uid-2' } };
    expect(planOpenCase(observation({ machine: replaced }))).toBeUndefined();
    expect(planOpenCase(observation({ machine: undefined }))).toBeUndefined();
  });
});
