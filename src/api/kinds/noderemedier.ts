/** NodeRemedier: what is ill, when we may act, what to try in which order, how success is proved, and its tests. */
import { count, selector, statusHead, waiting } from '../common.ts';
import { FAULT_CLASSES } from '../enums.ts';
import { expr } from '../expr.ts';
import { nodeRemedierPhases } from '../phases.ts';
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
import { STEP_NAMES } from '../steps/registry.ts';
import { AGE, type Kind, PHASE } from './kind.ts';

export const ON_FAILURE = ['Fail', 'Continue', 'NextRung'] as const;
export const ON_TIMEOUT = ['Fail', 'RequestApproval', 'NextRung'] as const;

const step = rules(
  named('RemedyStep', 'One step of a repair.', {
    step: choice('What is done.', STEP_NAMES),
    with: foreign(
      'What the step needs to know; the compiler checks it against the schema of the step.',
    ).default({}),
    timeoutSeconds: int('How long it may take.').default(300),
    retries: int('How often it is tried again.', [0, 5]).default(0),
    onFailure: choice('What follows a failure.', ON_FAILURE).default('Fail'),
    onTimeout: choice('What follows when time is up.', ON_TIMEOUT).default('Fail'),
  }),
  {
    rule: "self.onFailure != 'Continue' || self.step in ['CollectDiagnostics', 'Notify', 'CleanDisk']",
    message: 'only CollectDiagnostics, Notify and CleanDisk may fail and the plan go on',
    fieldPath: '.onFailure',
  },
);

/** Shared with RemedyOperationJob, which carries it out. */
export function verify(sentence: string): Schema {
  return named('RemedyVerify', 'What proves that the repair worked.', {
    holdSeconds: int('How long the conditions must hold.').default(300),
    timeoutSeconds: int('How long to wait for that.').default(900),
    target: choice('Which node is looked at.', ['Node', 'Replacement']).default('Node'),
    conditions: expr('What must hold.'),
  }).describe(sentence);
}

const rung = rules(
  named('Rung', 'One repair to try.', {
    name: name('What it is called.'),
    maxAttempts: int('How often it is tried.', [1, 5]).default(1),
    retrySeconds: int('How long to wait between attempts.').default(600),
    plan: list('Its steps, in order.', step, [1, 16]),
    verify: verify('What proves that it worked.').optional(),
    onVerified: list('Steps once it is proved.', step, [0, 4]).default([]),
  }),
  {
    rule: "has(self.verify) || self.plan.exists(s, s.step == 'HandOff')",
    message: 'a rung needs verify, or hands off to people with the step HandOff',
    fieldPath: '.verify',
    reason: 'FieldValueRequired',
  },
);

const rule = named('RemedyRule', 'When the node is ill.', {
  conditions: expr('Is the node ill?'),
  gate: expr('May we act now? A closed gate is Held, not healed.').optional(),
  maxAgeSeconds: map('For each kind of fact; an older fact is unknown.', int('Its age at most.'), 16).default(
    {},
  ),
  clearSeconds: int('How long it must be clear before the case is closed.', [0, 86_400]).default(600),
  flap: named('RemedyFlap', 'A fault that comes and goes.', {
    windowSeconds: int('Within this time.').default(3600),
    maxTransitions: int('So many changes are too many.', [1, 100]).default(4),
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the API
    then: choice('What follows.', ['HandOff', 'NextRung', 'Hold']).default('HandOff'),
  }).prefault({}),
  onIndeterminate: named('OnIndeterminate', 'When the answer stays unknown.', {
    action: choice('What follows.', ['Wait', 'HandOff']).default('Wait'),
    afterSeconds: int('After how long.').default(3600),
  }).prefault({}),
});

const test = named('RemedyTest', 'A test of the rule itself.', {
  name: name('What it is called.'),
  expect: choice('What the rule must say.', ['Match', 'NoMatch', 'Held', 'Indeterminate']),
  given: foreign('The facts: fact, then its first parameter, then values.'),
});

const spec = rules(
  named('NodeRemedierSpec', 'A self-healing rule.', {
    mode: choice("Shadow: all but the act, with the Defender's answer.", [
      'Observe',
      'Shadow',
      'Enforce',
      'Suspended',
    ]).default('Observe'),
    owner: named('RemedyOwner', 'Who answers for the rule.', {
      team: name('The team.'),
      runbook: text('What a person should do.', { max: 512 }).optional(),
    }),
    faultClass: choice('What is broken.', FAULT_CLASSES),
    priority: int('One job a machine: the highest priority first.', [0, 1000]).default(500),
    target: named('RemedyTarget', 'Which nodes the rule is for.', {
      nodeSelector: selector('The nodes.'),
      exclude: selector('But not these.').optional(),
      controlPlane: choice('Whether nodes of the control plane are touched.', [
        'Never',
        'OneAtATime',
      ]).default('Never'),
      maxMatchPercent: percent('A rule that matches more of the fleet is not trusted.', [1, 100]).default(5),
    }),
    rule,
    dedup: named('RemedyDedup', 'Which repairs make this one needless.', {
      group: name('The group of this rule. Default: the name of the rule.').optional(),
      coveredBy: list('Groups whose job absorbs one of this group.', name('A group.'), [0, 8]).default([]),
    }).optional(),
    ladder: listMap('Repairs in the order in which they are tried.', ['name'], rung, [1, 8]),
    perMachine: named('RemedyPerMachine', 'How often one machine is repaired by this rule.', {
      maxJobs: int('Jobs.', [1, 20]).default(3),
      windowSeconds: int('Within this time.').default(86_400),
    }).prefault({}),
    job: named('RemedyJobLimits', 'Limits of a job.', {
      deadlineSeconds: int('How long it may take.', [60, 86_400]).default(7200),
      ttlSeconds: int('How long it is kept when it is over.').default(1_209_600),
      historyLimit: int('How many are kept.', [1, 1000]).default(200),
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
    message: 'tests must hold at least one each that expects Match, NoMatch and Indeterminate',
    fieldPath: '.tests',
  },
  {
    rule: "!has(self.rule.gate) || self.tests.exists(t, t.expect == 'Held')",
    message: 'a rule with a gate needs a test that expects Held',
    fieldPath: '.tests',
  },
);

const status = named('NodeRemedierStatus', 'What the rule sees and does.', {
  ...statusHead(nodeRemedierPhases.phases),
  waiting: waiting(),
  ruleDigest: digest('Digest of the rule.').optional(),
  commit: text('The commit that it came from.', { max: 64 }).optional(),
  counts: named('RemedyCounts', 'Machines now.', {
    matched: count('Ill.'),
    held: count('Ill, with a closed gate.'),
    indeterminate: count('Unknown.'),
    inFlight: count('With a job.'),
    denied: map('Denied by the Defender, by reason.', int('How many.'), 32).optional(),
  }).optional(),
  matchedMachines: list('The first that are ill.', name('A machine.'), [0, 20]).optional(),
  wave: named('RemedyWave', 'How far a new rule may go.', {
    index: count('The wave.'),
    machines: count('Its machines.'),
    since: time('Since when.').optional(),
    successPercent: percent('Repairs that worked.').optional(),
  }).optional(),
  shadow: named('RemedyShadow', 'What the rule would do.', {
    wouldAct: count('Jobs.'),
    wouldDeny: count('Denials.'),
  }).optional(),
  rungs: listMap(
    'The ladder.',
    ['name'],
    named('RungStatus', 'One rung.', {
      name: name('The rung.'),
      tries: count('How often it was tried.'),
      succeeded: count('How often it worked.'),
      p95Seconds: count('How long it takes.'),
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
    'A self-healing rule: what is ill, when we may act, what to try in which order, how success is proved, and its own tests.',
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
