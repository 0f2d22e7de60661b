/** MachineComponentSet: which machines run which component versions, and how a change is rolled out. */
import { amount, checks, count, freezes, selector, statusHead, waiting, windows } from '../common.ts';
import { CLASSES } from '../enums.ts';
import { machineComponentSetPhases } from '../phases.ts';
import { choice, flag, int, list, listMap, map, message, name, named, rules, text, time } from '../schema.ts';
import { AGE, type Kind, PHASE, WAITING } from './kind.ts';

const component = rules(
  named('SetComponent', 'A component that the machines run.', {
    name: name('What is installed, as kubelet.'),
    componentRef: name('The MachineComponent of one version, as kubelet-1.31.4.', 81),
    state: choice('Absent removes it.', ['Present', 'Absent']).default('Present'),
    parameters: map('Parameters.', text('The value.', { max: 1024 }), 32).default({}),
  }),
  {
    rule: "self.componentRef.startsWith(self.name + '-')",
    message: 'componentRef must be a version of this component: <name>-<version>',
    fieldPath: '.componentRef',
  },
);

const BATCHES = [1, 5, 10, 50, 100];

const rollout = rules(
  named('Rollout', 'How a change is rolled out.', {
    batches: list('Sizes of the batches.', amount('Machines of one batch.'), [1, 20]).default(BATCHES),
    repeatLast: flag('The last size again until all are done; false: the rest at once.').default(true),
    canary: named('RolloutCanary', 'Batch 0, watched for the soak of the gate.', {
      machineSelector: selector('Machines that may be in it.').optional(),
      count: int('How many.', [1, 100]).default(1),
      hold: flag('Waits for approval after it.').default(false),
    }).optional(),
    maxUnavailable: amount('Machines of the selection that are not Ready, whoever is the cause.').default(
      '10%',
    ),
    preferUnhealthy: flag('A machine that is not Ready goes first: the change may be its cure.').default(
      true,
    ),
    partition: int('Machines that keep the old revision.').default(0),
    spread: named('RolloutSpread', 'How many are in work at one time in one domain.', {
      labelKey: name('Label whose value is the domain.', 317),
      max: amount('Machines in work.'),
    }).optional(),
    newMachinePolicy: choice('Revision of a machine that joins during a rollout.', [
      'Stable',
      'Target',
    ]).default('Stable'),
    gate: named('RolloutGate', 'What must hold before the next batch.', {
      soakSeconds: int('How long a batch must be healthy.', [0, 604_800]).default(300),
      checks: checks('What must hold through the whole soak.').default([]),
      approval: choice('Whether a person must approve.', ['None', 'FirstBatch', 'EveryBatch']).default(
        'None',
      ),
    }).prefault({}),
    approved: named('RolloutApproval', 'What a person approved.', {
      revision: name('Holds for this revision only.', 64),
      throughBatch: int('And up to this batch.'),
    }).optional(),
    failure: named('RolloutFailure', 'How much may fail, and what happens then.', {
      maxFailed: amount('Machines that may fail.').default(0),
      per: choice('What is counted together.', ['Batch', 'Rollout']).default('Rollout'),
      onFailure: choice('What happens beyond.', [
        'Pause',
        'RollbackFailed',
        'RollbackBatch',
        'RollbackAll',
      ]).default('RollbackBatch'),
    }).prefault({}),
    windows: windows('When machines may begin; none: always.').default([]),
    freezes: freezes('When no machine may begin.', 16).default([]),
    machineTimeoutSeconds: int('A machine that takes longer has failed.', [30, 86_400]).default(900),
    progressDeadlineSeconds: int(
      'A rollout without progress for this long is stalled.',
      [60, 604_800],
    ).default(7200),
  }),
  {
    rule: "!has(self.approved) || self.gate.approval != 'None' || (has(self.canary) && self.canary.hold)",
    message: 'approved is only for a rollout that asks: gate.approval, or canary.hold',
    fieldPath: '.approved',
    reason: 'FieldValueForbidden',
  },
  {
    rule: 'self.machineTimeoutSeconds <= self.progressDeadlineSeconds',
    message: 'one machine may not take longer than progressDeadlineSeconds',
    fieldPath: '.machineTimeoutSeconds',
  },
  {
    rule: "self.batches.all(b, b != 0 && b != '0%')",
    message: 'a batch of 0 machines would never end; set paused: true to wait',
    fieldPath: '.batches',
  },
).prefault({ batches: BATCHES, machineTimeoutSeconds: 900, progressDeadlineSeconds: 7200 });

const spec = named('MachineComponentSetSpec', 'Which machines, which versions, and how.', {
  machineSelector: selector('The machines; those that leave keep what they have.'),
  components: listMap('Components that they run.', ['name'], component, [1, 32]),
  rollout,
  paused: flag('Machines in work finish, no other begins.').default(false),
  dryRun: flag('Writes status.plan and nothing else.').default(false),
  retryToken: text('A new value runs a rolled-back revision again.', { max: 64 }).optional(),
});

const REVISION = { max: 64 } as const;

const plan = named('RolloutPlan', 'What the rollout would do.', {
  batches: list('Machines of each batch.', int('Machines.'), [0, 32]).optional(),
  class: choice('What it costs each machine.', CLASSES).optional(),
  drains: count('Machines that are drained.'),
  grants: count('Grants that it needs.'),
  firstMachines: list('The machines that begin.', name('A machine.'), [0, 20]).optional(),
  wouldBlock: waiting('What would hold it up.'),
  estimatedEndAt: time('When it would end.').optional(),
});

const status = named('MachineComponentSetStatus', 'How far the rollout has come.', {
  ...statusHead(machineComponentSetPhases.phases),
  waiting: waiting(),
  currentRevision: text('Revision that was rolled out last, r-<8 hex digits>.', REVISION).optional(),
  updateRevision: text('Revision that is being rolled out.', REVISION).optional(),
  batch: named('RolloutBatch', 'The batch in work.', {
    index: count('Its number; 0 is the canary.'),
    of: count('How many there are.'),
    size: count('Its machines.'),
    updated: count('Of these, updated.'),
    failed: count('Of these, failed.'),
    startedAt: time('When it began.').optional(),
    soakUntil: time('When its soak ends.').optional(),
  }).optional(),
  counts: named('RolloutCounts', 'Machines, counted anew in every pass.', {
    selected: count('Of the selection.'),
    updated: count('At the new revision, and healthy.'),
    ready: count('Ready.'),
    inProgress: count('In work.'),
    failed: count('Failed.'),
    rolledBack: count('Back at the old revision.'),
    skipped: count('Left out.'),
    held: count('Held by a person.'),
    pinned: count('With a pin.'),
    drifted: count('With drift.'),
    blocked: count('That cannot go on.'),
  }).optional(),
  plan: plan.optional(),
  failedMachines: listMap(
    'The first machines that failed.',
    ['name'],
    named('FailedMachine', 'A machine that failed.', {
      name: name('The machine.'),
      component: text('The component.', { max: 63 }).optional(),
      code: text('A word for programs.', { max: 64 }).optional(),
      message: message().optional(),
      since: time('Since when.').optional(),
    }),
    [0, 20],
  ).optional(),
  checks: listMap(
    'Checks of the gate.',
    ['name'],
    named('CheckResult', 'One check.', {
      name: name('The check.'),
      result: choice('Its result.', ['Pass', 'Fail', 'Inconclusive', 'Pending']).optional(),
      value: text('What it saw.', { max: 64 }).optional(),
      since: time('Since when.').optional(),
    }),
    [0, 16],
  ).optional(),
  history: list(
    'Revisions, newest first.',
    named('RevisionRecord', 'A revision that was rolled out.', {
      revision: text('The revision.', REVISION).optional(),
      components: list('Its components.', name('A componentRef.', 253), [0, 32]).optional(),
      startedAt: time('When it began.').optional(),
      finishedAt: time('When it ended.').optional(),
      result: choice('How it ended.', ['Completed', 'RolledBack', 'Superseded']).optional(),
    }),
    [0, 10],
  ).optional(),
});

export const machineComponentSet: Kind = {
  kind: 'MachineComponentSet',
  plural: 'machinecomponentsets',
  shortName: 'kmcs',
  lives: 'cluster',
  description: 'Which machines run which component versions, and how a change is rolled out.',
  nameMax: 63,
  spec,
  status,
  columns: [
    PHASE,
    { name: 'Batch', path: '.status.batch.index', type: 'integer' },
    { name: 'Of', path: '.status.batch.of', type: 'integer' },
    { name: 'Updated', path: '.status.counts.updated', type: 'integer' },
    { name: 'Failed', path: '.status.counts.failed', type: 'integer' },
    { name: 'Selected', path: '.status.counts.selected', type: 'integer' },
    { name: 'Revision', path: '.status.updateRevision' },
    WAITING,
    AGE,
  ],
  phases: machineComponentSetPhases,
};
