/** RemedyOperationJob: one attempt of one repair on one machine. */
import { count, statusHead, waiting } from '../common.ts';
import { FAULT_CLASSES, RISKS } from '../enums.ts';
import { FACTS } from '../facts.ts';
import { CASE, STEP_VERSION } from '../patterns.ts';
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
import { remedyOperationJobPhases } from '../status/phase-tables.ts';
import { AGE, type Kind, PHASE, WAITING } from './kind.ts';
import { ON_FAILURE, ON_TIMEOUT, verify } from './noderemedier.ts';

/** The rule is on the immutable field itself, so that the message names it. */
function frozen(schema: Schema): Schema {
  return immutable('the spec of a job', schema);
}

const cause = frozen(
  named('JobCause', 'Why the job exists.', {
    remedier: name('Name of the NodeRemedier.'),
    ruleDigest: digest('Digest of its rule.'),
    commit: name('Commit of the rule.', 64),
    case: text('Id of the case: first 8 digits of the hash of Node UID, remedier and start of the fault.', {
      max: 8,
      pattern: CASE,
    }),
    faultClass: choice('Class of the fault.', FAULT_CLASSES),
    faultAt: time('When the fault began, by the clock of the controller of rules.').optional(),
    detectedAt: time('When the rule first matched in this case.').optional(),
    maintenanceEvent: text('Name of the MaintenanceEvent.', { max: 253 }).optional(),
    evidence: list(
      'Facts that led to the job.',
      named('Evidence', 'A fact.', {
        fact: choice('Name of the fact.', FACTS),
        params: foreign('Parameters of the fact.').optional(),
        value: foreign('Value of the fact.').optional(),
        at: time('When the fact was read.').optional(),
      }),
      [0, 16],
    ).default([]),
  }),
);

const grant = rules(
  frozen(
    named('JobGrant', 'The entry of the DefenderLedger for this machine.', {
      id: name('Id.', 64),
      fence: bigInt('Fence of the grant.'),
      issuedAt: time('When the grant was issued.'),
      notAfter: time('When the grant ends unless it is renewed.'),
    }),
  ),
  {
    rule: 'timestamp(self.issuedAt) < timestamp(self.notAfter)',
    message: 'notAfter must be later than issuedAt',
    fieldPath: '.notAfter',
  },
);

const step = named('JobStep', 'A planned step.', {
  id: name('Id.'),
  step: text('Name and version of the step, such as Reboot@v1.', { max: 64, pattern: STEP_VERSION }),
  executor: choice('Who carries the step out: the agent or, for Central, the job controller.', [
    'Agent',
    'Central',
  ]),
  risk: choice('Risk of the step.', RISKS),
  with: foreign('Input of the step.').optional(),
  timeoutSeconds: int('Timeout of the step.'),
  retries: int('Number of retries.', [0, 5]).optional(),
  undo: text('Step that undoes it.', { max: 64 }).optional(),
  onFailure: choice('What to do when the step fails.', ON_FAILURE),
  onTimeout: choice('What to do when the step times out.', ON_TIMEOUT),
});

const settle = frozen(
  named('JobSettle', 'What happens to cordon and taints at the end.', {
    cleared: choice('When the fault has cleared.', ['Undo']).default('Undo'),
    superseded: choice('When the node was replaced.', ['Undo']).default('Undo'),
    aborted: choice('When the job was stopped.', ['KeepCordoned', 'Undo']).default('KeepCordoned'),
    holdSeconds: int('How long a cordon is kept after the job was stopped.').default(14_400),
  }),
).prefault({});

const spec = rules(
  named('RemedyOperationJobSpec', 'Plan and permission of the job. Immutable except for cancel.', {
    machine: frozen(
      named('JobMachine', 'Machine that is repaired.', {
        name: name('Name.'),
        uid: name('UID of the Machine.'),
      }),
    ),
    node: frozen(
      named('JobNode', 'Node of the machine. A Node with another UID ends the job as Superseded.', {
        uid: name('UID of the Node.'),
        bootID: name('Boot id of the Node.'),
        providerID: text('Provider id of the Node.').optional(),
      }),
    ),
    cause,
    rung: frozen(
      named('JobRung', 'Rung of the ladder.', {
        name: name('Name.'),
        index: int('Number of the rung.', [1, 8]),
      }),
    ),
    attempt: frozen(int('Number of the attempt.', [1, 5])),
    group: frozen(name('Dedup group of the rule: spec.dedup.group, or the name of the rule.')),
    risk: frozen(choice('Highest risk of the plan.', RISKS)),
    grant,
    operationID: frozen(name('Token that makes provider calls idempotent.', 64)),
    plan: frozen(listMap('Steps, in order.', ['id'], step, [1, 16])),
    verify: verify('Conditions that prove that the repair worked.').optional(),
    onVerified: frozen(
      listMap(
        'Steps after the verification, in order. Their ids are not those of the plan.',
        ['id'],
        step,
        [0, 4],
      ),
    ).default([]),
    deadline: frozen(time('When the job must be finished.')),
    settle,
    cancel: named('JobCancel', 'Stops the job before its next step.', {
      by: name('User or controller that cancelled the job.', 128),
      reason: name('Why the job was cancelled.', 256),
    }).optional(),
  }),
  {
    rule: 'has(self.verify) == has(oldSelf.verify) && (!has(self.verify) || self.verify == oldSelf.verify)',
    message: 'the spec of a job cannot be changed after creation; cancel the job',
    fieldPath: '.verify',
    reason: 'FieldValueForbidden',
  },
  {
    rule: '!self.onVerified.exists(s, self.plan.exists(p, p.id == s.id))',
    message: 'the ids of onVerified must differ from those of plan',
    fieldPath: '.onVerified',
  },
  {
    rule: '!has(oldSelf.cancel) || (has(self.cancel) && self.cancel == oldSelf.cancel)',
    message: 'cancel cannot be changed or removed',
    fieldPath: '.cancel',
    reason: 'FieldValueForbidden',
  },
);

const BOOT = { max: 63 } as const;

const release = named('JobRelease', 'Allows the agent to begin one step, for at most 60 s.', {
  step: name('Id of the step.'),
  try: int('Number of the try.'),
  fence: bigInt('Fence of the grant.'),
  nodeUID: name('UID of the Node on which it is allowed.'),
  bootID: name('Boot id in which it is allowed.'),
  notAfter: time('When the permission ends.'),
});

const agentStep = rules(
  named('AgentStep', 'Result of one step, reported by the agent.', {
    id: name('Id of the step.'),
    try: int('Number of the try.'),
    fence: bigInt('Fence of the grant.'),
    state: choice('State of the step.', ['Running', 'Succeeded', 'Failed', 'Ambiguous', 'Refused']),
    startedAt: time('Start time.').optional(),
    finishedAt: time('End time.').optional(),
    code: text('Result code for programs.', { max: 64 }).optional(),
    message: message().optional(),
    output: text('End of the output.', { max: 2048 }).optional(),
    outputDigest: digest('Digest of the whole output.').optional(),
    bootIDBefore: text('Boot id before the step.', BOOT).optional(),
    bootIDAfter: text('Boot id after the step.', BOOT).optional(),
  }),
  {
    rule: "oldSelf.state == 'Running' || self.state == oldSelf.state || self.try > oldSelf.try",
    message: 'a finished step can only start again with a higher try',
    fieldPath: '.state',
    reason: 'FieldValueForbidden',
  },
);

/** Each time is written before the next act, so that a crash repeats no act and forgets none. */
const power = named(
  'JobStepPower',
  'Records what the step has requested of the power switch of the machine, and what it read.',
  {
    way: choice('Way to the power switch.', ['Provider', 'BMC']),
    desired: choice('State that is requested.', ['Off', 'On']),
    notBefore: time('Until then the agent may still begin the step; nothing is requested before.').optional(),
    intendedAt: time('When the request was decided, before it was sent.').optional(),
    acceptedAt: time('When the switch accepted the request.').optional(),
    offAt: time('When Off was read back.').optional(),
    onAt: time('When On was read back.').optional(),
    givenUpAt: time('When the job controller gave up switching the machine on again.').optional(),
  },
);

/** A provider reboots an instance for an answer, and may not tell whether it has one already: so it is sent at most once. */
const answer = named('JobStepAnswer', 'Records what the step has answered to the provider of the machine.', {
  event: name('Name of the MaintenanceEvent that is answered.', 253),
  answer: choice('The answer.', ['Accept', 'StartNow']),
  intendedAt: time('When the answer was decided, before it was sent.'),
  acceptedAt: time('When the provider accepted the answer.').optional(),
  lostAt: time('When it was sent, and it is not known whether the provider received it.').optional(),
});

const stepStatus = rules(
  named('JobStepStatus', 'State of one step, recorded by the job controller.', {
    id: name('Id of the step.'),
    state: choice('State of the step.', [
      'Pending',
      'Intended',
      'Running',
      'Succeeded',
      'Failed',
      'Ambiguous',
      'Skipped',
      'Undone',
    ]),
    tries: count('Number of tries.'),
    startedAt: time('Start time.').optional(),
    finishedAt: time('End time.').optional(),
    code: text('Result code for programs.', { max: 64 }).optional(),
    message: message().optional(),
    outputDigest: digest('Digest of the output.').optional(),
    bootIDBefore: text('Boot id before the step.', BOOT).optional(),
    bootIDAfter: text('Boot id after the step.', BOOT).optional(),
    power: power.optional(),
    answer: answer.optional(),
  }),
  {
    rule: "!(oldSelf.state in ['Succeeded', 'Skipped', 'Undone']) || self.state == oldSelf.state || self.state == 'Undone'",
    message: 'a finished step can only change to Undone',
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
  named('RemedyOperationJobStatus', 'Progress of the job.', {
    ...statusHead(remedyOperationJobPhases.phases),
    waiting: waiting(),
    grant: named('JobGrantStatus', 'Renewals of the grant.', {
      notAfter: time('End of the renewed grant. No step with a risk above None begins after it.').optional(),
      renewedAt: time('When the grant was last renewed.').optional(),
    }).optional(),
    release: release.optional(),
    agent: named('JobAgent', 'Results reported by the agent. The agent writes nothing else.', {
      steps: listMap('Steps that the agent began.', ['id'], agentStep, [0, 20]).default([]),
    }).optional(),
    // Those of the plan, and those after the verification.
    steps: listMap('State of each step.', ['id'], stepStatus, [0, 20]).optional(),
    drain: named('JobDrain', 'Progress of the drain.', {
      total: count('Number of pods to evict.'),
      evicted: count('Number of evicted pods.'),
      pending: count('Number of remaining pods.'),
      blockedBy: list(
        'First objects that block evictions.',
        name('Object as namespace/name.', 253),
        [0, 8],
      ).optional(),
    }).optional(),
    replacement: named('JobReplacement', 'The machine that takes the place of the one that is replaced.', {
      machineSet: name('Name of the MachineSet.'),
      requestedAt: time('When the job recorded that it replaces the machine.'),
      machine: name('Name of the new machine. Missing until it exists.').optional(),
      uid: name('UID of the new machine.').optional(),
    }).optional(),
    outcome: named('JobOutcome', 'Outcome of the job.', {
      class: choice('Class of the outcome.', OUTCOMES),
      reason: reason().optional(),
      message: message().optional(),
    }).optional(),
    timeline: named('JobTimeline', 'Times of the job.', {
      firstFaultAt: time('When the fault began.').optional(),
      detectedAt: time('When the rule first matched in this case.').optional(),
      admittedAt: time('When the grant was issued.').optional(),
      executedAt: time('When all steps were done.').optional(),
      verifiedAt: time('When the repair was verified.').optional(),
      settledAt: time('When cordon, taints and grant were returned.').optional(),
    }).optional(),
  }),
  {
    rule: '!has(oldSelf.agent) || (has(self.agent) && oldSelf.agent.steps.all(s, self.agent.steps.exists(t, t.id == s.id)))',
    message: 'steps cannot be removed from status.agent.steps',
    fieldPath: '.agent',
    reason: 'FieldValueForbidden',
  },
  {
    rule: '!has(oldSelf.outcome) || (has(self.outcome) && self.outcome.class == oldSelf.outcome.class)',
    message: 'the class of an outcome cannot be changed or removed',
    fieldPath: '.outcome',
    reason: 'FieldValueForbidden',
  },
);

/** The cost of string(int) is unbounded in CEL, so a list of digits converts numbers. */
const NAME =
  "self.metadata.name == self.spec.machine.name + '-' + self.spec.cause.remedier + '-' + self.spec.cause.case + '-r' + ['0','1','2','3','4','5','6','7','8'][self.spec.rung.index] + '-a' + ['0','1','2','3','4','5'][self.spec.attempt]";

export const remedyOperationJob: Kind = {
  kind: 'RemedyOperationJob',
  plural: 'remedyoperationjobs',
  shortName: 'kroj',
  lives: 'cluster',
  description: 'One attempt of one repair on one machine: evidence, grant, steps and timeline.',
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
