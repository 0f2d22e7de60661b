/** NodeRemedier: a self-healing rule with its repairs, verification and tests. */
import { count, selector, statusHead, waiting } from '../common.ts';
import { FAULT_CLASSES } from '../enums.ts';
import { expr } from '../expr.ts';
import {
  choice,
  digest,
  foreign,
  int,
  list,
  listMap,
  map,
  name,
  named,
  percent,
  rules,
  type Schema,
  text,
  time,
} from '../schema.ts';
import { nodeRemedierPhases } from '../status/phase-tables.ts';
import { STEP_NAMES } from '../steps/registry.ts';
import { AGE, type Kind, PHASE } from './kind.ts';

export const ON_FAILURE = ['Fail', 'Continue', 'NextRung'] as const;
export const ON_TIMEOUT = ['Fail', 'RequestApproval', 'NextRung'] as const;

const step = rules(
  named('RemedyStep', 'A step of a repair.', {
    step: choice('Name of the step.', STEP_NAMES),
    with: foreign('Input of the step. The rule compiler checks it against the schema of the step.').default(
      {},
    ),
    timeoutSeconds: int('Timeout of the step.').default(300),
    retries: int('Number of retries.', [0, 5]).default(0),
    onFailure: choice('What to do when the step fails.', ON_FAILURE).default('Fail'),
    onTimeout: choice('What to do when the step times out.', ON_TIMEOUT).default('Fail'),
  }),
  {
    rule: "self.onFailure != 'Continue' || self.step in ['CollectDiagnostics', 'Notify', 'CleanDisk']",
    message: 'onFailure Continue is allowed for CollectDiagnostics, Notify and CleanDisk only',
    fieldPath: '.onFailure',
  },
);

/** Shared with RemedyOperationJob. */
export function verify(sentence: string): Schema {
  return named('RemedyVerify', 'Conditions that prove that the repair worked.', {
    holdSeconds: int('How long the conditions must stay true.').default(300),
    timeoutSeconds: int('How long to wait for that.').default(900),
    target: choice('Node that is verified.', ['Node', 'Replacement']).default('Node'),
    conditions: expr('Conditions that must be true.'),
  }).describe(sentence);
}

const rung = rules(
  named('Rung', 'A rung of the ladder: one repair to try.', {
    name: name('Name.'),
    maxAttempts: int('Maximum number of attempts.', [1, 5]).default(1),
    retrySeconds: int('Seconds between two attempts.').default(600),
    plan: list('Steps of the repair, in order.', step, [1, 16]),
    verify: verify('Conditions that prove that the repair worked.').optional(),
    onVerified: list('Steps to run after the repair is verified.', step, [0, 4]).default([]),
  }),
  {
    rule: "has(self.verify) || self.plan.exists(s, s.step == 'HandOff')",
    message: 'a rung needs verify or the step HandOff',
    fieldPath: '.verify',
    reason: 'FieldValueRequired',
  },
);

const rule = named('RemedyRule', 'When the node is faulty and may be repaired.', {
  conditions: expr('Whether the node is faulty.'),
  gate: expr('Whether a repair may begin now. While the gate is closed the result is Held.').optional(),
  maxAgeSeconds: map(
    'Maximum age of each kind of fact. An older fact is unknown.',
    int('Maximum age in seconds.'),
    16,
  ).default({}),
  clearSeconds: int('How long the conditions must be false before the case is closed.', [0, 86_400]).default(
    600,
  ),
  flap: named('RemedyFlap', 'Handling of faults that come and go.', {
    windowSeconds: int('Period in which changes are counted.').default(3600),
    maxTransitions: int('Number of changes above which the fault is flapping.', [1, 100]).default(4),
    // oxlint-disable-next-line unicorn/no-thenable -- name of the API field
    then: choice('What follows.', ['HandOff', 'NextRung', 'Hold']).default('HandOff'),
  }).prefault({}),
  onIndeterminate: named('OnIndeterminate', 'Handling of a result that stays Indeterminate.', {
    action: choice('What to do.', ['Wait', 'HandOff']).default('Wait'),
    afterSeconds: int('Seconds after which the action is taken.').default(3600),
  }).prefault({}),
});

const test = named('RemedyTest', 'A test of the rule.', {
  name: name('Name.'),
  expect: choice('Expected result.', ['Match', 'NoMatch', 'Held', 'Indeterminate']),
  given: foreign('Facts of the test: by fact, then first parameter, then field.'),
});

const spec = rules(
  named('NodeRemedierSpec', 'A self-healing rule.', {
    mode: choice(
      'Observe counts matches. Shadow also asks the Defender, without acting. Enforce repairs. Suspended does nothing.',
      ['Observe', 'Shadow', 'Enforce', 'Suspended'],
    ).default('Observe'),
    owner: named('RemedyOwner', 'Owner of the rule.', {
      team: name('Name of the team.'),
      runbook: text('Instructions for people.', { max: 512 }).optional(),
    }),
    faultClass: choice('Class of the fault.', FAULT_CLASSES),
    priority: int(
      'Priority among rules that match the same machine, which gets one job at a time. The highest goes first.',
      [0, 1000],
    ).default(500),
    target: named('RemedyTarget', 'Nodes that the rule applies to.', {
      nodeSelector: selector('Selected nodes.'),
      exclude: selector('Nodes that are excluded.').optional(),
      controlPlane: choice('Whether control plane nodes are repaired.', ['Never', 'OneAtATime']).default(
        'Never',
      ),
      maxMatchPercent: percent(
        'Maximum percentage of nodes that the rule may match. Above it the rule creates no jobs.',
        [1, 100],
      ).default(5),
    }),
    rule,
    dedup: named('RemedyDedup', 'Repairs of other rules that make this one unnecessary.', {
      group: name('The group of this rule. Default: the name of the rule.').optional(),
      coveredBy: list(
        'Groups whose jobs replace a job of this group.',
        name('Name of a group.'),
        [0, 8],
      ).default([]),
    }).optional(),
    ladder: listMap('Repairs in the order in which they are tried.', ['name'], rung, [1, 8]),
    perMachine: named('RemedyPerMachine', 'Limits of repairs of one machine by this rule.', {
      maxJobs: int('Maximum number of jobs.', [1, 20]).default(3),
      windowSeconds: int('Period in which changes are counted.').default(86_400),
    }).prefault({}),
    job: named('RemedyJobLimits', 'Limits of the jobs.', {
      deadlineSeconds: int('Maximum duration of a job.', [60, 86_400]).default(7200),
      ttlSeconds: int('How long a finished job is kept.').default(1_209_600),
      historyLimit: int('Number of finished jobs that are kept.', [1, 1000]).default(200),
    }).prefault({}),
    tests: listMap('Tests of the rule.', ['name'], test, [3, 32]),
  }),
  {
    rule: "self.ladder[size(self.ladder) - 1].plan.exists(s, s.step == 'HandOff')",
    message: 'the last rung must hand off to people: give it the step HandOff',
    fieldPath: '.ladder',
  },
  {
    rule: "['Match', 'NoMatch', 'Indeterminate'].all(e, self.tests.exists(t, t.expect == e))",
    message: 'tests must contain at least one test each that expects Match, NoMatch and Indeterminate',
    fieldPath: '.tests',
  },
  {
    rule: "!has(self.rule.gate) || self.tests.exists(t, t.expect == 'Held')",
    message: 'a rule with a gate needs a test that expects Held',
    fieldPath: '.tests',
  },
);

const status = named('NodeRemedierStatus', 'Observed state of the rule.', {
  ...statusHead(nodeRemedierPhases.phases),
  waiting: waiting(),
  ruleDigest: digest('Digest of the rule.').optional(),
  commit: text('Commit of the rule.', { max: 64 }).optional(),
  counts: named('RemedyCounts', 'Machine counts.', {
    matched: count('Machines that match.'),
    held: count('Machines that match while the gate is closed.'),
    indeterminate: count('Machines with an unknown result.'),
    inFlight: count('Machines with a job.'),
    denied: map('Denials of the Defender by reason.', int('Number of denials.'), 32).optional(),
  }).optional(),
  matchedMachines: list('The first 20 machines that match.', name('Name of a machine.'), [0, 20]).optional(),
  wave: named('RemedyWave', 'Current wave of a new rule.', {
    index: count('Number of the wave.'),
    machines: count('Number of machines in the wave.'),
    since: time('When the wave began.').optional(),
    successPercent: percent('Percentage of successful repairs.').optional(),
  }).optional(),
  shadow: named('RemedyShadow', 'What the rule would do in mode Enforce.', {
    wouldAct: count('Jobs that would be created.'),
    wouldDeny: count('Jobs that the Defender would deny.'),
  }).optional(),
  rungs: listMap(
    'Results of each rung.',
    ['name'],
    named('RungStatus', 'Results of one rung.', {
      name: name('Name of the rung.'),
      tries: count('Number of attempts.'),
      succeeded: count('Number of verified repairs.'),
      p95Seconds: count('Duration of the repair in seconds, 95th percentile.'),
    }),
    [0, 8],
  ).optional(),
});

export const nodeRemedier: Kind = {
  kind: 'NodeRemedier',
  plural: 'noderemediers',
  shortName: 'knrem',
  lives: 'cluster',
  description:
    'A self-healing rule: when a node is faulty, which repairs to try in which order, how to verify them, and tests of the rule.',
  nameMax: 63,
  spec,
  status,
  columns: [
    PHASE,
    { name: 'Mode', path: '.spec.mode' },
    { name: 'Fault', path: '.spec.faultClass' },
    { name: 'Priority', path: '.spec.priority', type: 'integer' },
    { name: 'Matched', path: '.status.counts.matched', type: 'integer' },
    { name: 'InFlight', path: '.status.counts.inFlight', type: 'integer' },
    { name: 'Wave', path: '.status.wave.index', type: 'integer' },
    AGE,
    { name: 'Team', path: '.spec.owner.team', wide: true },
    { name: 'Digest', path: '.status.ruleDigest', wide: true },
  ],
  phases: nodeRemedierPhases,
};
