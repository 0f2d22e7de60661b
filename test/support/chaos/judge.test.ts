import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/kube/objects/conditions.ts';
import { judgeNode } from './judge.ts';
import type { HostObservation, NodeFile, NodeObservation, NodeUnit } from './observation.ts';

const CONFIG = '/etc/kubernetes/kubelet.json';
const UNIT = '/etc/systemd/system/kubelet.service';
const LINK = '/opt/kubenode/kubelet/current';
const file: NodeFile = { type: 'File', mode: '0600', owner: 'root:root', content: 'aa' };
const running: NodeUnit = {
  enabled: 'enabled',
  active: 'active',
  needsReload: false,
  lastExit: '0',
  pid: '7',
  isSuspended: false,
  program: 'bb',
};
const failed: NodeUnit = { ...running, active: 'failed', pid: '0', program: '-', lastExit: '203' };

const declared: HostObservation = {
  files: new Map([
    [CONFIG, file],
    [UNIT, { ...file, mode: '0644' }],
    [LINK, { type: 'Link', mode: '-', owner: '-', content: '/opt/kubenode/kubelet/1' }],
  ]),
  units: new Map(['kubelet', 'containerd', 'ssh', 'kubenode-agent'].map((unit) => [unit, running])),
  answers: new Map([
    ['kubelet', true],
    ['containerd', true],
  ]),
  freeKiB: 1000,
};

function condition(type: string, status: Condition['status'], message: string): Condition {
  return { type, status, message, reason: 'X', lastTransitionTime: '' };
}

const good: readonly Condition[] = [
  condition('AgentReady', 'True', 'the agent renews its Lease'),
  condition('NodeReady', 'True', 'the Node is Ready'),
  condition('ComponentsReady', 'True', 'every component is committed and runs'),
  condition('UpToDate', 'True', 'every component is at its entry'),
  condition('DriftDetected', 'False', `${CONFIG} was corrected`),
  condition('Held', 'False', 'no hold applies'),
];

interface Broken {
  readonly file?: readonly [path: string, found: Partial<NodeFile> | 'missing'];
  readonly unit?: readonly [unit: string, found: Partial<NodeUnit>];
  readonly silent?: 'kubelet' | 'containerd';
  readonly rest?: Partial<NodeObservation>;
  readonly messages?: readonly (readonly [type: string, message: string])[];
}

function observed({ file: broken, unit, silent, rest, messages = [] }: Broken): NodeObservation {
  const files = new Map(declared.files);
  if (broken?.[1] === 'missing') files.delete(broken[0]);
  else if (broken) files.set(broken[0], { ...(files.get(broken[0]) ?? file), ...broken[1] });
  const units = new Map(declared.units);
  if (unit) units.set(unit[0], { ...running, ...unit[1] });
  const answers = new Map(declared.answers);
  if (silent) answers.set(silent, false);
  const bad = new Map(
    messages.map(([type, message]) => [
      type,
      condition(type, type === 'DriftDetected' ? 'True' : 'False', message),
    ]),
  );
  const conditions = good.map((each) => bad.get(each.type) ?? each);
  return {
    ...declared,
    files,
    units,
    answers,
    conditions,
    isAccepted: true,
    isHeartbeatNew: true,
    isNodeReady: true,
    ...rest,
  };
}

it('finds a node as declared when nothing differs and every condition is good', () => {
  expect(judgeNode(declared, observed({}))).toEqual({ is: 'AsDeclared' });
});

const FIGHT =
  '. Another program changes it again and again: stop that program, which this finds: auditctl -p wa -w /x';
const TRIES = ': started 5 times since 2026-01-01T00:00:00.000Z, the next try is at 2026-01-01T00:01:00.000Z';

/** What is broken, the sentence that is true of it, and one that is not. */
const REPORTED: readonly (readonly [
  name: string,
  broken: Broken,
  type: string,
  right: string,
  wrong: string,
])[] = [
  [
    'a missing file',
    { file: [CONFIG, 'missing'] },
    'DriftDetected',
    `${CONFIG} is missing`,
    `${CONFIG} has other content`.replace(CONFIG, LINK),
  ],
  [
    'other content',
    { file: [CONFIG, { content: 'xx' }] },
    'DriftDetected',
    `${CONFIG} has other content: line 12 (maxPods)${FIGHT}`,
    `${CONFIG} is missing${FIGHT}`,
  ],
  [
    'another mode',
    { file: [CONFIG, { mode: '0666' }] },
    'DriftDetected',
    `${CONFIG} has mode 0666, not 0600`,
    `${CONFIG} has mode 0644, not 0600`,
  ],
  [
    'another owner',
    { file: [CONFIG, { owner: 'daemon:root' }] },
    'DriftDetected',
    `${CONFIG} belongs to daemon:root, not to root:root`,
    `${CONFIG} has other content`,
  ],
  [
    'a link in the place of a file',
    { file: [CONFIG, { type: 'Link', content: '/dev/null' }] },
    'DriftDetected',
    `${CONFIG} is a link, not a file`,
    `${CONFIG} is missing`,
  ],
  [
    'another link',
    { file: [LINK, { content: '/usr/bin' }] },
    'DriftDetected',
    `${LINK} is not a link to /opt/kubenode/kubelet/1`,
    `${LINK} is not a link to /usr/bin`,
  ],
  [
    'a unit that fails',
    { unit: ['kubelet', failed] },
    'DriftDetected',
    `unit kubelet has failed (exit code 203); its last log lines: a; b: c | d${TRIES}; unit kubelet does not run; somebody had systemd stop it; the journal does not have the name`,
    `unit containerd has failed (exit code 203)${TRIES}`,
  ],
  [
    'a unit that fails, of a component',
    { unit: ['kubelet', failed] },
    'ComponentsReady',
    'kubelet does not run',
    'containerd does not run',
  ],
  [
    'a failed start',
    { unit: ['kubelet', failed] },
    'ComponentsReady',
    'kubelet is Committed: unit kubelet failed: exit code 203',
    'kubelet is Committed: unit kubelet failed: exit code 1',
  ],
  [
    'a masked unit',
    { unit: ['ssh', { enabled: 'masked' }] },
    'DriftDetected',
    'unit ssh is masked',
    'unit ssh is not enabled, does not run',
  ],
  [
    'a disabled unit',
    { unit: ['ssh', { enabled: 'disabled' }] },
    'DriftDetected',
    'unit ssh is not enabled',
    'unit ssh is masked',
  ],
  [
    'an edited unit',
    { file: [UNIT, { content: 'xx' }], unit: ['kubelet', { needsReload: true }] },
    'DriftDetected',
    `unit kubelet has another definition; ${UNIT} has other content`,
    'unit ssh has another definition',
  ],
  [
    'a process that a signal has stopped',
    { unit: ['kubelet', { isSuspended: true }] },
    'DriftDetected',
    'process 7 of unit kubelet is stopped by a signal, and answers nothing until: kill -CONT 7',
    'process 8 of unit kubelet is stopped by a signal, and answers nothing until: kill -CONT 8',
  ],
  [
    'another program',
    { unit: ['kubelet', { program: 'xx' }] },
    'DriftDetected',
    'unit kubelet started on wrong content',
    'unit ssh started on wrong content',
  ],
  [
    'another program, of a component',
    { unit: ['kubelet', { program: 'xx' }] },
    'ComponentsReady',
    'kubelet is WaitingForGrant: a unit runs on wrong content: its restart waits for a grant',
    'containerd is WaitingForGrant: a unit runs on wrong content: its restart waits for a grant',
  ],
  [
    'a component that does not answer',
    { silent: 'kubelet' },
    'ComponentsReady',
    'probes of kubelet fail',
    'probes of containerd fail',
  ],
  [
    'a full disk',
    { rest: { freeKiB: 0, isAccepted: false } },
    'UpToDate',
    'the newest state of the Machine could not be taken over: the disk is full: /x could not be written',
    'kubelet is not at its entry',
  ],
  [
    'an agent without a Lease',
    { rest: { isHeartbeatNew: false } },
    'AgentReady',
    'the agent does not renew its Lease',
    'the agent has not reported yet',
  ],
  [
    'a Node that is not Ready',
    { rest: { isNodeReady: false } },
    'NodeReady',
    'Node n is not Ready: container runtime is down',
    'the Node is away',
  ],
];

describe.each(REPORTED.map((row) => [row[0], row] as const))('%s', (_, [, broken, type, right, wrong]) => {
  it('is reported by a sentence that is true', () => {
    const verdict = judgeNode(declared, observed({ ...broken, messages: [[type, right]] }));
    expect(verdict.is).toBe('Reported');
    expect(JSON.stringify(verdict)).toContain(`${type}: `);
  });

  it('is a violation without a sentence, and with one that is not true', () => {
    const untold = judgeNode(declared, observed(broken));
    expect(untold).toMatchObject({ is: 'Violation' });
    expect(JSON.stringify(untold)).toContain('no condition reports it');
    expect(judgeNode(declared, observed({ ...broken, messages: [[type, wrong]] }))).toMatchObject({
      is: 'Violation',
    });
  });

  it('has a sentence that is not true of a node that is as declared', () => {
    const [sentence = ''] = right.split(/; (?!stop)/);
    expect(judgeNode(declared, observed({ messages: [[type, sentence]] }))).toMatchObject({
      is: 'Violation',
    });
  });
});

it('takes a sentence that it does not know for a violation, and names it', () => {
  const messages = [['ComponentsReady', 'all is lost']] as const;
  expect(judgeNode(declared, observed({ silent: 'kubelet', messages }))).toEqual({
    is: 'Violation',
    problems: [
      'ComponentsReady has "all is lost", which is a sentence that the judge does not know',
      'kubelet does not answer, and no condition reports it',
    ],
  });
});

it('finds that a stopped agent tells nothing of a kubelet that does not run', () => {
  const units = new Map(declared.units)
    .set('kubelet', { ...failed, active: 'inactive' })
    .set('kubenode-agent', { ...failed, active: 'inactive' });
  const messages = [['AgentReady', 'the agent does not renew its Lease']] as const;
  const rest = { units, isHeartbeatNew: false };
  expect(judgeNode(declared, observed({ rest, messages }))).toEqual({
    is: 'Violation',
    problems: ['kubelet is inactive, and no condition reports it'],
  });
});

it('does not take a sentence that is not true for a report of what is broken', () => {
  const messages = [['DriftDetected', `${CONFIG} has mode 0644, not 0600`]] as const;
  expect(judgeNode(declared, observed({ file: [CONFIG, { mode: '0666' }], messages }))).toEqual({
    is: 'Violation',
    problems: [
      `DriftDetected has "${CONFIG} has mode 0644, not 0600", which is not true`,
      `${CONFIG} has mode 0666, not 0600, and no condition reports it`,
    ],
  });
});

it.each([
  ['a full disk, while the agent has the newest state', { freeKiB: 0, isAccepted: true }],
  ['a disk that is not full, while the agent does not have it', { freeKiB: 1000, isAccepted: false }],
])('does not believe that %s is why a state was not taken over', (_, rest) => {
  const message =
    'the newest state of the Machine could not be taken over: the disk is full: /x could not be written';
  const verdict = judgeNode(declared, observed({ rest, messages: [['UpToDate', message]] }));
  expect(verdict).toMatchObject({ is: 'Violation' });
});
