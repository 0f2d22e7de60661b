import { describe, expect, it } from 'vitest';
import type { AgentStep, JobRelease, JobStepStatus } from '../../../../src/api/generated/types.ts';
import type { JobInput } from '../../../../src/controllers/remedyjob/observe/observe.ts';
import {
  planAgentStep,
  planRelease,
  recordedAnswer,
} from '../../../../src/controllers/remedyjob/plan/agent-step.ts';
import {
  agentAnswer,
  BOOT,
  explained,
  GRANT,
  jobNode,
  jobStep,
  later,
  NODE_UID,
  observation,
  records,
  repairJob,
} from '../jobs.ts';

const reboot = jobStep('s4', 'Reboot');
const collect = jobStep('s1', 'CollectDiagnostics');
const release = (seconds: number): JobRelease => ({
  step: 's4',
  try: 1,
  fence: GRANT.fence,
  nodeUID: NODE_UID,
  bootID: BOOT,
  notAfter: later(seconds),
});

interface Row {
  readonly record?: Partial<JobStepStatus>;
  readonly answer?: AgentStep['state'];
  readonly fields?: Partial<AgentStep>;
  readonly step?: typeof reboot;
  readonly released?: JobRelease;
  readonly bootID?: string;
}

function found({ record, answer, fields, step = reboot, released, bootID = BOOT }: Row): {
  readonly observed: JobInput;
  readonly step: typeof reboot;
  readonly record: JobStepStatus;
} {
  const [first] = records(`${step.id} Intended`, { bootIDBefore: BOOT, ...record });
  const status = {
    steps: first ? [first] : [],
    ...(released ? { release: released } : {}),
    ...(answer ? { agent: agentAnswer(step.id, answer, fields) } : {}),
  };
  const job = repairJob({ spec: { plan: [step] }, status });
  return { observed: observation({ job, node: jobNode({ bootID }) }), step, record: first as JobStepStatus };
}

describe('recordedAnswer', () => {
  it.each<[name: string, row: Row, expected: string]>([
    ['nothing without an answer', {}, 'undefined'],
    ['nothing of an older try', { record: { tries: 2 }, answer: 'Failed' }, 'undefined'],
    ['nothing while it is carried out', { answer: 'Running' }, 'undefined'],
    [
      'a new boot of the Node, without an answer',
      { bootID: 'boot-2' },
      'Write s4=Succeeded withdraw: s4: Succeeded',
    ],
    [
      'a new boot in the answer',
      { answer: 'Succeeded', fields: { bootIDBefore: BOOT, bootIDAfter: 'boot-2' } },
      'Write s4=Succeeded withdraw: s4: Succeeded',
    ],
    [
      'R31 no success of a reboot in the same boot',
      { answer: 'Succeeded', fields: { bootIDBefore: BOOT, bootIDAfter: BOOT } },
      'Write s4=Failed SameBoot withdraw: s4: Failed',
    ],
    [
      'R31 what the agent does not know',
      { answer: 'Ambiguous' },
      'Write s4=Ambiguous withdraw: s4: Ambiguous',
    ],
    [
      'R31 the boot of the Node rather than an agent that does not know',
      { answer: 'Ambiguous', bootID: 'boot-2' },
      'Write s4=Succeeded withdraw: s4: Succeeded',
    ],
    [
      'a failure with its code',
      { answer: 'Failed', fields: { code: 'TimedOut' } },
      'Write s4=Failed TimedOut withdraw: s4: Failed',
    ],
    [
      'a refusal with its code',
      { answer: 'Refused', fields: { code: 'WrongNode' } },
      'Write s4=Failed WrongNode withdraw: s4: Failed',
    ],
    [
      'nothing of a release that was too old',
      { answer: 'Refused', fields: { code: 'ReleaseExpired' } },
      'undefined',
    ],
  ])('records %s', (_, row, expected) => {
    const { observed, step } = found(row);
    expect(explained(recordedAnswer(observed, step))).toBe(expected);
  });
});

describe('planAgentStep', () => {
  const begun = { startedAt: later(-10) };
  it.each<[name: string, row: Row, expected: string]>([
    [
      'waits while a release is out',
      { released: release(50) },
      'Wait (Agent): the agent has not begun Reboot@v1 yet',
    ],
    [
      'renews a release that ends soon',
      { released: release(19) },
      'ReleaseStep s4 try 1: Reboot@v1: the release ends soon',
    ],
    ['releases again what was withdrawn', {}, 'ReleaseStep s4 try 1: Reboot@v1: the release ends soon'],
    [
      'releases another try after a refusal for its age',
      { answer: 'Refused', fields: { code: 'ReleaseExpired' } },
      'ReleaseStep s4 try 2: Reboot@v1: try 2',
    ],
    [
      'withdraws what has begun',
      { answer: 'Running', fields: begun, released: release(50) },
      'Write s4=Running withdraw: Reboot@v1 has begun',
    ],
    [
      'waits for the end of what has begun',
      { record: { state: 'Running' }, answer: 'Running', fields: begun },
      'Wait (Agent): Reboot@v1 is carried out',
    ],
    [
      'R31 does not know of a begun reboot without an end',
      { answer: 'Running', fields: { startedAt: later(-361) } },
      `Write s4=Ambiguous TimedOut withdraw: s4: Ambiguous`,
    ],
    [
      'R31 does not know of a released reboot without an answer',
      { record: { startedAt: later(-300) } },
      'Write s4=Ambiguous AgentSilent withdraw: s4: Ambiguous',
    ],
    [
      'takes an agent that waits at its word',
      { record: { startedAt: later(-300) }, answer: 'Running' },
      'Write s4=Failed TimedOut withdraw: s4: Failed',
    ],
    [
      'takes a silent agent for a failure where nothing is disturbed',
      { step: collect, record: { startedAt: later(-300) } },
      'Write s1=Failed AgentSilent withdraw: s1: Failed',
    ],
  ])('%s', (_, row, expected) => {
    const { observed, step, record } = found(row);
    expect(explained(planAgentStep(observed, step, record))).toBe(expected);
  });
});

describe('planRelease', () => {
  it('is for the boot that the Node reports, and keeps the time of a step that was not begun', () => {
    const { observed, record } = found({ bootID: 'boot-3', record: { startedAt: later(-100) } });
    expect(planRelease(observed, reboot, record)).toMatchObject({
      bootID: 'boot-3',
      record: { tries: 2, startedAt: later(-100), state: 'Intended' },
    });
  });
});
