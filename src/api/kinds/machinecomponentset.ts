/** MachineComponentSet: assigns component versions to machines and rolls changes out in batches. */
import {
  amount,
  checks,
  count,
  freezes,
  gateRuns,
  selector,
  statusHead,
  waiting,
  windows,
} from '../common.ts';
import { CLASSES } from '../enums.ts';
import { choice, flag, int, list, listMap, map, message, name, named, rules, text, time } from '../schema.ts';
import { machineComponentSetPhases } from '../status/phase-tables.ts';
import { AGE, type Kind, PHASE, WAITING } from './kind.ts';

const component = rules(
  named('SetComponent', 'A component that the selected machines run.', {
    name: name('Name of the component, such as kubelet.'),
    componentRef: name('MachineComponent of one version, such as kubelet-1.31.4.', 81),
    state: choice('Absent removes the component from the machines.', ['Present', 'Absent']).default(
      'Present',
    ),
    parameters: map('Values of the parameters.', text('Value.', { max: 1024 }), 32).default({}),
  }),
  {
    rule: "self.componentRef.startsWith(self.name + '-')",
    message: 'componentRef must be a version of this component: <name>-<version>',
    fieldPath: '.componentRef',
  },
);

const BATCHES = [1, 5, 10, 50, 100];
/** From the loosest to the strictest. */
const APPROVALS = ['None', 'FirstBatch', 'EveryBatch'] as const;

const rollout = rules(
  named('Rollout', 'How a change is rolled out.', {
    batches: list('Batch sizes.', amount('Number of machines in the batch.'), [1, 20]).default(BATCHES),
    repeatLast: flag(
      'true: repeat the last batch size until all machines are updated. false: update the rest in one batch.',
    ).default(true),
    canary: named('RolloutCanary', 'Batch 0, observed for the soak time of the gate.', {
      machineSelector: selector('Machines that are canary candidates.').optional(),
      count: int('Number of canary machines.', [1, 100]).default(1),
      hold: flag('Whether to wait for approval after the canary.').default(false),
    }).optional(),
    maxUnavailable: amount(
      'Maximum number of selected machines that are not Ready, for whatever reason.',
    ).default('10%'),
    preferUnhealthy: flag(
      'Whether machines that are not Ready are updated first. The change may repair them and costs no availability.',
    ).default(true),
    partition: amount(
      'Number of machines that keep the old revision. A smaller number lets more of them go on.',
    ).default(0),
    spread: named('RolloutSpread', 'Limits concurrent updates in each domain.', {
      labelKey: name(
        'Label of the Node or the Machine whose value names the domain. Machines without it are one domain.',
        317,
      ),
      max: amount('Maximum number of machines of one domain that are updated at the same time.'),
    }).optional(),
    newMachinePolicy: choice('Revision of machines that join during a rollout.', [
      'Stable',
      'Target',
    ]).default('Stable'),
    gate: named('RolloutGate', 'Conditions for the next batch.', {
      soakSeconds: int('How long a batch must stay healthy.', [0, 604_800]).default(300),
      checks: checks('Health checks that must pass during the whole soak.').default([]),
      approval: choice('Whether a person must approve.', APPROVALS).default('None'),
    }).prefault({}),
    approved: named('RolloutApproval', 'Approval by a person.', {
      revision: name('Revision that is approved.', 64),
      throughBatch: int('Last approved batch.'),
    }).optional(),
    failure: named('RolloutFailure', 'Failure budget of the rollout.', {
      maxFailed: amount('Number of machines that may fail.').default(0),
      per: choice('Whether failures are counted per batch or per rollout.', ['Batch', 'Rollout']).default(
        'Rollout',
      ),
      onFailure: choice('What to do when more machines fail.', [
        'Pause',
        'RollbackFailed',
        'RollbackBatch',
        'RollbackAll',
      ]).default('RollbackBatch'),
    }).prefault({}),
    windows: windows('Times at which updates of machines may begin. Empty: always.').default([]),
    freezes: freezes('Periods in which no update begins.', 16).default([]),
    machineTimeoutSeconds: int(
      'Time after which an update of a machine counts as failed.',
      [30, 86_400],
    ).default(900),
    progressDeadlineSeconds: int(
      'Time without progress after which the rollout is stalled.',
      [60, 604_800],
    ).default(7200),
  }),
  {
    rule: "!has(self.approved) || self.gate.approval != 'None' || (has(self.canary) && self.canary.hold)",
    message: 'approved requires gate.approval or canary.hold',
    fieldPath: '.approved',
    reason: 'FieldValueForbidden',
  },
  {
    rule: 'self.machineTimeoutSeconds <= self.progressDeadlineSeconds',
    message: 'machineTimeoutSeconds must not exceed progressDeadlineSeconds',
    fieldPath: '.machineTimeoutSeconds',
  },
  {
    rule: "self.batches.all(b, b != 0 && b != '0%')",
    message: 'a batch of 0 machines would never end; set paused: true to wait',
    fieldPath: '.batches',
  },
  {
    rule: "!has(self.spread) || (self.spread.max != 0 && self.spread.max != '0%')",
    message: 'a spread of 0 machines would never end; set paused: true to wait',
    fieldPath: '.spread',
  },
).prefault({ batches: BATCHES, machineTimeoutSeconds: 900, progressDeadlineSeconds: 7200 });

const spec = named('MachineComponentSetSpec', 'Selected machines, component versions and rollout settings.', {
  machineSelector: selector('Selected machines. A machine that is no longer selected keeps its components.'),
  components: listMap('Components that the machines run.', ['name'], component, [1, 32]),
  rollout,
  paused: flag('Whether the rollout is paused. Updates in progress finish.').default(false),
  dryRun: flag('Whether to write status.plan only.').default(false),
  retryToken: text('A new value allows a rolled back revision again.', { max: 64 }).optional(),
});

const REVISION = { max: 64 } as const;
/** rollout/mode.ts records no longer one. */
const COMMIT = { max: 64 } as const;

const plan = named('RolloutPlan', 'Plan of the rollout.', {
  batches: list('Number of machines in each batch.', int('Number of machines.'), [0, 32]).optional(),
  class: choice('Activation class of the change.', CLASSES).optional(),
  drains: count('Number of machines that are drained.'),
  grants: count('Number of grants that the rollout needs.'),
  firstMachines: list('First 20 machines to update.', name('Name of a machine.'), [0, 20]).optional(),
  wouldBlock: waiting('What would block the rollout.'),
  estimatedEndAt: time('Estimated end of the rollout.').optional(),
});

const status = named('MachineComponentSetStatus', 'Progress of the rollout.', {
  ...statusHead(machineComponentSetPhases.phases),
  waiting: waiting(),
  currentRevision: text(
    'Revision that was last rolled out completely, as r-<8 hex digits>.',
    REVISION,
  ).optional(),
  updateRevision: text('Revision that is being rolled out.', REVISION).optional(),
  startedAt: time('When the rollout of updateRevision began.').optional(),
  commit: text('Commit of the set when that rollout began.', COMMIT).optional(),
  progressedAt: time(
    'When the rollout last made progress. Absent while spec.rollout.progressDeadlineSeconds does not apply.',
  ).optional(),
  batch: named('RolloutBatch', 'Current batch.', {
    index: count('Number of the batch. 0 is the canary.'),
    of: count('Number of batches.'),
    size: count('Number of machines in the batch.'),
    total: count('Number of machines that were selected when the rollout began. Percentages are of them.'),
    updated: count('Updated machines of the batch.'),
    failed: count('Failed machines of the batch.'),
    startedAt: time('Start time.').optional(),
    settledAt: time('When its machines were settled. Checks count from then on.').optional(),
    soakUntil: time('End of the soak.').optional(),
    gates: gateRuns('Runs of its http and promql checks.').optional(),
    inconclusive: count('Runs of the builtin check that found the health of the batch unknown.').optional(),
    inconclusiveAt: time('When the last of them was.').optional(),
  }).optional(),
  pausedAt: time('Since when spec.paused has been observed.').optional(),
  closedTimes: named(
    'RolloutClosedTimes',
    'The windows and freezes that judge the set, with those that its last change removed.',
    {
      spec: text('Digest of the rest of the spec. A change is judged by the times before it.', { max: 71 }),
      declared: text('Digest of the windows and freezes of the spec.', { max: 71 }),
      windows: windows('The windows in force.'),
      freezes: freezes('The freezes in force.', 32),
    },
  ).optional(),
  gateInForce: named(
    'RolloutGateInForce',
    'The gate that judges the set, with what its last change loosened. A change that loosens its own gate waits.',
    {
      spec: text('Digest of the rest of the spec. A change is judged by the gate before it.', { max: 71 }),
      declared: text('Digest of the gate of the spec.', { max: 71 }),
      soakSeconds: int('How long a batch must stay healthy.', [0, 604_800]),
      approval: choice('Whether a person must approve.', APPROVALS),
      // Not a map by name: server-side apply makes null of one whose last entry is removed.
      checks: list(
        'Checks in force.',
        named('RolloutCheckInForce', 'A check in force.', {
          name: name('Name of the check.'),
          digest: text('Digest of the check.', { max: 71 }),
        }),
        [0, 32],
      ),
    },
  ).optional(),
  stopped: named(
    'RolloutStop',
    'Why the rollout stopped for a person. A new revision, a new retryToken or a pause ends it.',
    {
      reason: text('Reason for programs.', { max: 64 }),
      message: message(),
      retryToken: text('spec.retryToken when it stopped.', { max: 64 }).optional(),
    },
  ).optional(),
  counts: named('RolloutCounts', 'Machine counts, computed in every reconcile.', {
    selected: count('Selected machines.'),
    updated: count('Machines that run updateRevision and are healthy.'),
    ready: count('Ready machines.'),
    inProgress: count('Machines that are being updated.'),
    failed: count('Machines whose update failed.'),
    rolledBack: count('Machines that were rolled back.'),
    skipped: count('Machines that are skipped.'),
    held: count('Machines on hold.'),
    pinned: count('Machines with a pin.'),
    drifted: count('Machines with drift.'),
    blocked: count('Machines whose update is blocked.'),
  }).optional(),
  plan: plan.optional(),
  failedMachines: listMap(
    'The first 20 machines that failed.',
    ['name'],
    named('FailedMachine', 'A machine whose update failed.', {
      name: name('Name of the machine.'),
      component: text('Name of the component.', { max: 63 }).optional(),
      code: text('Error code for programs.', { max: 64 }).optional(),
      message: message().optional(),
      since: time('When the result or failure was first observed.').optional(),
    }),
    [0, 20],
  ).optional(),
  checks: listMap(
    'Results of the checks of the gate.',
    ['name'],
    named('CheckResult', 'Result of one check.', {
      name: name('Name of the check.'),
      result: choice(
        'Result of the check. Skipped: it compares with machines that are not updated yet, and none is left.',
        ['Pass', 'Fail', 'Inconclusive', 'Pending', 'Skipped'],
      ).optional(),
      value: text('Observed value.', { max: 64 }).optional(),
      since: time('When the result or failure was first observed.').optional(),
    }),
    [0, 16],
  ).optional(),
  history: list(
    'Finished revisions, newest first.',
    named('RevisionRecord', 'A revision that was rolled out.', {
      revision: text('Revision.', REVISION).optional(),
      components: list(
        'Components of the revision.',
        name('Name of a MachineComponent.', 253),
        [0, 32],
      ).optional(),
      startedAt: time('Start time.').optional(),
      finishedAt: time('End time.').optional(),
      result: choice('Result of the revision.', ['Completed', 'RolledBack', 'Superseded']).optional(),
      commit: text('Commit of the set when the rollout began.', COMMIT).optional(),
      reason: text('Why the rollout failed, for programs.', { max: 64 }).optional(),
      message: message().optional(),
      retryToken: text('spec.retryToken when it was rolled back. A new value permits it again.', {
        max: 64,
      }).optional(),
    }),
    [0, 10],
  ).optional(),
});

export const machineComponentSet: Kind = {
  kind: 'MachineComponentSet',
  plural: 'machinecomponentsets',
  shortName: 'kmcs',
  lives: 'cluster',
  description: 'Assigns component versions to machines and rolls changes out in batches.',
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
    WAITING,
    AGE,
    { name: 'Revision', path: '.status.updateRevision', wide: true },
  ],
  phases: machineComponentSetPhases,
};
