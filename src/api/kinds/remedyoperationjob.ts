/** RemedyOperationJob: one attempt of one rung on one machine. */
import { count, statusHead, waiting } from '../common.ts';
import { FAULT_CLASSES, RISKS } from '../enums.ts';
import { FACTS } from '../facts.ts';
import { CASE, STEP_VERSION } from '../patterns.ts';
import { remedyOperationJobPhases } from '../phases.ts';
import {
  bigInt,
  choice,
  digest,
  foreign,
  immutable,
  int,
  list,
  listMap,
  message,
  name,
  named,
  reason,
  rules,
  type Schema,
  text,
  time,
} from '../schema.ts';
import { AGE, type Kind, PHASE, WAITING } from './kind.ts';
import { ON_FAILURE, ON_TIMEOUT, verify } from './noderemedier.ts';

/** What cannot change says so where it stands, so that the message names the field. */
function frozen(schema: Schema): Schema {
  return immutable('what a job was created with', schema);
}

const cause = frozen(
  named('JobCause', 'Why the job exists.', {
    remedier: name('The NodeRemedier.'),
    ruleDigest: digest('Digest of its rule.'),
    commit: name('The commit that it came from.', 64),
    case: text(
      'The case: first 8 digits of the hash of Node UID, remedier and the moment when the fault began.',
      {
        max: 8,
        pattern: CASE,
      },
    ),
    faultClass: choice('What is broken.', FAULT_CLASSES),
    maintenanceEvent: text('The MaintenanceEvent.', { max: 253 }).optional(),
    evidence: list(
      'What was seen, frozen.',
      named('Evidence', 'One fact.', {
        fact: choice('What was looked at.', FACTS),
        params: foreign('Which one of it.').optional(),
        value: foreign('What it was.').optional(),
        at: time('When.').optional(),
      }),
      [0, 16],
    ).default([]),
  }),
);

const grant = rules(
  frozen(
    named('JobGrant', 'The entry of the DefenderLedger for this machine.', {
      id: name('Its id.', 64),
      fence: bigInt('Its fence.'),
      issuedAt: time('When it was given.'),
      notAfter: time('When it ends, unless it is renewed.'),
    }),
  ),
  {
    rule: 'timestamp(self.issuedAt) < timestamp(self.notAfter)',
    message: 'a grant must end after it is given',
    fieldPath: '.notAfter',
  },
);

const step = named('JobStep', 'One step, as it was planned.', {
  id: name('Its id.'),
  step: text('Its name and version, as Reboot@v1.', { max: 64, pattern: STEP_VERSION }),
  executor: choice('Who carries it out.', ['Agent', 'Central']),
  fallback: choice('Who does when the agent cannot.', ['Central']).optional(),
  risk: choice('Its risk.', RISKS),
  with: foreign('What it needs to know.').optional(),
  timeoutSeconds: int('How long it may take.'),
  retries: int('How often it is tried again.', [0, 5]).optional(),
  undo: text('The step that takes it back.', { max: 64 }).optional(),
  onFailure: choice('What follows a failure.', ON_FAILURE),
  onTimeout: choice('What follows when time is up.', ON_TIMEOUT),
});

const settle = frozen(
  named('JobSettle', 'What becomes of cordon and taints at the end.', {
    cleared: choice('When the fault is gone.', ['Undo']).default('Undo'),
    superseded: choice('When the node is another one.', ['Undo']).default('Undo'),
    aborted: choice('When it was stopped.', ['KeepCordoned', 'Undo']).default('KeepCordoned'),
    holdSeconds: int('How long a cordon is kept then.').default(14_400),
  }),
).prefault({});

const spec = rules(
  named('RemedyOperationJobSpec', 'What is done, on whose permission. Immutable but for cancel.', {
    machine: frozen(
      named('JobMachine', 'The machine.', { name: name('Its name.'), uid: name('UID of the Machine.') }),
    ),
    node: frozen(
      named('JobNode', 'The node; another UID ends the job as Superseded.', {
        uid: name('UID of the Node.'),
        bootID: name('Its boot id.'),
        providerID: text('Its provider id.').optional(),
      }),
    ),
    cause,
    rung: frozen(
      named('JobRung', 'Which rung of the ladder.', {
        name: name('Its name.'),
        index: int('Its number.', [1, 8]),
      }),
    ),
    attempt: frozen(int('Which attempt of it.', [1, 5])),
    group: frozen(name('Dedup group of the rule: spec.dedup.group, or the name of the rule.')),
    risk: frozen(choice('The highest risk of the plan.', RISKS)),
    grant,
    operationID: frozen(name('Token that makes calls to a provider idempotent.', 64)),
    plan: frozen(listMap('The steps, in order.', ['id'], step, [1, 16])),
    verify: verify('What proves that it worked.').optional(),
    deadline: frozen(time('When it must be over.')),
    settle,
    cancel: named('JobCancel', 'A person or the remedier stops it before the next step.', {
      by: name('Who.', 128),
      reason: name('Why, for people.', 256),
    }).optional(),
  }),
  {
    rule: 'has(self.verify) == has(oldSelf.verify) && (!has(self.verify) || self.verify == oldSelf.verify)',
    message: 'what a job was created with cannot be changed after creation; cancel the job',
    fieldPath: '.verify',
    reason: 'FieldValueForbidden',
  },
  {
    rule: '!has(oldSelf.cancel) || (has(self.cancel) && self.cancel == oldSelf.cancel)',
    message: 'a cancel cannot be changed or taken back',
    fieldPath: '.cancel',
    reason: 'FieldValueForbidden',
  },
);

const BOOT = { max: 63 } as const;

const release = named('JobRelease', 'The agent may begin this one step; at most 60 s ahead.', {
  step: name('The step.'),
  try: int('Which try.'),
  fence: bigInt('Fence of the grant.'),
  nodeUID: name('On this Node.'),
  bootID: name('In this boot.'),
  notAfter: time('When the permission ends.'),
});

const agentStep = rules(
  named('AgentStep', "The agent's answer for one step.", {
    id: name('The step.'),
    try: int('Which try.'),
    fence: bigInt('Fence of the grant.'),
    state: choice('Where it stands.', ['Running', 'Succeeded', 'Failed', 'Ambiguous', 'Refused']),
    startedAt: time('When it began.').optional(),
    finishedAt: time('When it ended.').optional(),
    code: text('A word for programs.', { max: 64 }).optional(),
    message: message().optional(),
    output: text('The end of its output.', { max: 2048 }).optional(),
    outputDigest: digest('Digest of all of it.').optional(),
    bootIDBefore: text('Boot id before.', BOOT).optional(),
    bootIDAfter: text('Boot id after.', BOOT).optional(),
  }),
  {
    rule: "oldSelf.state == 'Running' || self.state == oldSelf.state || self.try > oldSelf.try",
    message: 'a step that has ended begins again only as another try',
    fieldPath: '.state',
    reason: 'FieldValueForbidden',
  },
);

const stepStatus = rules(
  named('JobStepStatus', 'One step, as the job controller sees it.', {
    id: name('The step.'),
    state: choice('Where it stands.', [
      'Pending',
      'Intended',
      'Running',
      'Succeeded',
      'Failed',
      'Ambiguous',
      'Skipped',
      'Undone',
    ]),
    tries: count('How often it was tried.'),
    startedAt: time('When it began.').optional(),
    finishedAt: time('When it ended.').optional(),
    code: text('A word for programs.', { max: 64 }).optional(),
    message: message().optional(),
    outputDigest: digest('Digest of its output.').optional(),
    bootIDBefore: text('Boot id before.', BOOT).optional(),
    bootIDAfter: text('Boot id after.', BOOT).optional(),
  }),
  {
    rule: "!(oldSelf.state in ['Succeeded', 'Skipped', 'Undone']) || self.state == oldSelf.state || self.state == 'Undone'",
    message: 'a step that is over can only be undone',
    fieldPath: '.state',
    reason: 'FieldValueForbidden',
  },
);

const OUTCOMES = [
  'Succeeded',
  'Transient',
  'Permanent',
  'Ambiguous',
  'Superseded',
  'Cancelled',
  'HandedOff',
] as const;

const status = rules(
  named('RemedyOperationJobStatus', 'How far the job has come.', {
    ...statusHead(remedyOperationJobPhases.phases),
    waiting: waiting(),
    grant: named('JobGrantStatus', 'Renewals of the grant.', {
      notAfter: time('Nothing with a risk above None begins after this.').optional(),
      renewedAt: time('When it was renewed.').optional(),
    }).optional(),
    release: release.optional(),
    agent: named('JobAgent', "The agent's answer, and all that it may write.", {
      steps: listMap('The steps that it began.', ['id'], agentStep, [0, 16]).default([]),
    }).optional(),
    steps: listMap('The steps.', ['id'], stepStatus, [0, 16]).optional(),
    drain: named('JobDrain', 'The drain.', {
      total: count('Pods in all.'),
      evicted: count('Pods that left.'),
      pending: count('Pods that are left.'),
      blockedBy: list('What holds it up.', name('namespace/name.', 253), [0, 8]).optional(),
    }).optional(),
    outcome: named('JobOutcome', 'How it ended.', {
      class: choice('In one word.', OUTCOMES),
      reason: reason().optional(),
      message: message().optional(),
    }).optional(),
    timeline: named('JobTimeline', 'When what happened.', {
      firstFaultAt: time('The fault began.').optional(),
      detectedAt: time('The rule matched.').optional(),
      admittedAt: time('The grant was given.').optional(),
      executedAt: time('All steps were done.').optional(),
      verifiedAt: time('Success was proved.').optional(),
      settledAt: time('All was given back.').optional(),
    }).optional(),
  }),
  {
    rule: '!has(oldSelf.agent) || (has(self.agent) && oldSelf.agent.steps.all(s, self.agent.steps.exists(t, t.id == s.id)))',
    message: 'what the agent reported stays: no step may leave status.agent.steps',
    fieldPath: '.agent',
    reason: 'FieldValueForbidden',
  },
  {
    rule: '!has(oldSelf.outcome) || (has(self.outcome) && self.outcome.class == oldSelf.outcome.class)',
    message: 'a job has one outcome, which stays',
    fieldPath: '.outcome',
    reason: 'FieldValueForbidden',
  },
);

/** CEL has no bound for string(int), so numbers become text by a list of digits. */
const NAME =
  "self.metadata.name == self.spec.machine.name + '-' + self.spec.cause.remedier + '-' + self.spec.cause.case + '-r' + ['0','1','2','3','4','5','6','7','8'][self.spec.rung.index] + '-a' + ['0','1','2','3','4','5'][self.spec.attempt]";

export const remedyOperationJob: Kind = {
  kind: 'RemedyOperationJob',
  plural: 'remedyoperationjobs',
  shortName: 'kroj',
  lives: 'cluster',
  description: 'One attempt of one rung on one machine: frozen evidence, grant, steps, timeline.',
  nameMax: 253,
  spec,
  status,
  rules: [
    {
      rule: NAME,
      message: 'the name must be <machine>-<remedier>-<case>-r<rung>-a<attempt>',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    { name: 'Machine', path: '.spec.machine.name' },
    { name: 'Remedier', path: '.spec.cause.remedier' },
    { name: 'Rung', path: '.spec.rung.name' },
    PHASE,
    { name: 'Risk', path: '.spec.risk' },
    { name: 'Outcome', path: '.status.outcome.class' },
    WAITING,
    AGE,
  ],
  selectableFields: ['.spec.machine.name'],
  phases: remedyOperationJobPhases,
};
