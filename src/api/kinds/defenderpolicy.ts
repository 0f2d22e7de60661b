/** DefenderPolicy: limits on everything that disturbs a node. Of all that match, the strictest answer wins. */
import { amount, count, freezes, selector, statusHead, windows } from '../common.ts';
import { FAULT_CLASSES, HOLDERS } from '../enums.ts';
import { defenderPolicyPhases } from '../phases.ts';
import {
  bigInt,
  choice,
  flag,
  int,
  list,
  listMap,
  map,
  message,
  name,
  named,
  percent,
  rules,
  text,
  time,
} from '../schema.ts';
import {
  actions,
  breaker,
  concurrency,
  FOR_ACTIONS,
  perMachine,
  rate,
  risks,
} from './defenderpolicy-limits.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';

const scope = named('DefenderScope', 'What the policy is for.', {
  nodeSelector: selector('The nodes.'),
  actions: actions(FOR_ACTIONS, 32),
  risks: risks(),
  holders: list('Kinds that ask; none: all.', choice('A kind.', HOLDERS), [0, 6]).default([]),
});

const killSwitch = rules(
  named('KillSwitch', 'Nothing new is granted.', {
    engaged: flag('It is on.').default(false),
    scope: choice('What it stops.', ['All', 'Remedy', 'Rollout']).default('All'),
    reason: text('Why, for people.').optional(),
    by: name('Who.', 128).optional(),
    until: time('When it ends by itself.').optional(),
  }),
  {
    rule: "!self.engaged || (has(self.reason) && self.reason != '' && has(self.by))",
    message: 'who engages the kill switch says who and why: by and reason',
    fieldPath: '.reason',
    reason: 'FieldValueRequired',
  },
).prefault({ engaged: false });

const COUNTED = [
  'InFlight',
  'NotReady',
  'Cordoned',
  'ForeignMaintenance',
  'DeletedNotReplaced',
  'Unknown',
] as const;

const counting = named('DefenderCounting', 'What counts as unavailable.', {
  include: list('What counts.', choice('A reason.', COUNTED), [1, 6]).default([...COUNTED]),
  lingerSeconds: int('How long a settled grant still counts.').default(900),
  smallPool: named('SmallPool', 'In a small pool shares mean little.', {
    below: int('A pool with fewer machines is small.').default(5),
    max: int('So many at one time there.').default(1),
  }).prefault({}),
}).prefault({});

const zones = named('ZoneGuard', 'A dark zone: nothing with a risk in it, no drain out of it.', {
  haltPercent: percent('Dark at this share of nodes that are not Ready.').default(55),
  minNodes: int('Zones with fewer nodes are not judged.').default(3),
}).prefault({});

const selfDoubt = named('SelfDoubt', 'When our own view cannot be trusted.', {
  maxViewAgeSeconds: int('An older view is no view.').default(150),
  apiErrorPercent: percent('So many calls fail.').default(20),
  massUnknownPercent: percent('So many nodes turn unknown.').default(20),
  withinSeconds: int('Within this time.').default(120),
  secondVantage: list(
    'Who else is asked.',
    choice('A vantage point.', ['PeerAgents', 'Provider']),
    [0, 2],
  ).default([]),
}).prefault({});

const controlPlane = named('ControlPlaneGuard', 'Nodes of the control plane; the leader goes last.', {
  max: int('How many at one time.', [0, 1]).default(1),
  readyAPIServersAfter: int('API servers that must be left.').default(2),
  etcdQuorumAfter: flag('etcd must keep its majority.').default(true),
  actions: actions('The only actions allowed; none: all.'),
}).prefault({});

const foreign = rules(
  named('ForeignMaintenance', 'A sign that somebody else works on a node.', {
    lease: text('Name of a Lease.', { max: 128, min: 1 }).optional(),
    taint: text('Key of a taint.', { max: 128, min: 1 }).optional(),
    label: text('Key of a label.', { max: 128, min: 1 }).optional(),
  }),
  {
    rule: '[has(self.lease), has(self.taint), has(self.label)].exists_one(x, x)',
    message: 'give exactly one of lease, taint and label',
  },
);

const blockers = named('DefenderBlockers', 'What forbids an act.', {
  foreign: list('Signs of others.', foreign, [0, 16]).default([]),
  podLabels: list('A pod with one of these labels.', name('A label.', 128), [0, 8]).default([]),
  minNodeAgeSeconds: int('A node younger than this is not repaired.').default(900),
  promql: listMap(
    'Queries: any sample, error or time-out forbids.',
    ['name'],
    named('PromqlBlocker', 'One query.', {
      name: name('What it is called in messages.'),
      query: name('The query.', 1024),
    }),
    [0, 8],
  ).default([]),
}).prefault({});

const capacity = named('DefenderCapacity', 'Room for the pods that must move.', {
  minFreePercent: map('Share of each resource that must be free.', percent('The share.'), 8).default({}),
  simulateScheduling: flag('Every pod must find a place.').default(false),
  replacementFirst: flag('A new machine comes before an old one goes.').default(false),
}).prefault({});

const ruleWaves = named('RuleWaves', 'How a new rule is let loose.', {
  waves: list('Machines of each wave.', amount('Machines.'), [1, 8]).default([1, '5%', '20%', '100%']),
  soakSeconds: int('Time between two waves.').default(1800),
  minSuccessPercent: percent('Repairs that must work.').default(90),
}).prefault({});

const approval = named('ApprovalRule', 'Acts that a person must approve; no answer is a no.', {
  name: name('What it is called in messages.'),
  risks: risks(),
  actions: actions(FOR_ACTIONS),
  onlyLocalData: flag('Only for nodes with local data.').default(false),
  approvers: list('Groups that may.', name('A group.', 128), [1, 8]),
  timeoutSeconds: int('How long to wait.').default(7200),
});

const quietMore = {
  risks: risks(1),
  exceptFaultClasses: list(
    'Faults that are treated all the same.',
    choice('A class.', FAULT_CLASSES),
    [0, 9],
  ).default([]),
};

const spec = named('DefenderPolicySpec', 'The limits.', {
  mode: choice('Audit: decide and record, deny nothing.', ['Enforce', 'Audit']).default('Enforce'),
  scope,
  killSwitch,
  grantSeconds: int('A grant ends then, unless it is renewed.', [30, 300]).default(300),
  counting,
  concurrency: listMap('How many at one time.', ['name'], concurrency, [0, 16]).default([]),
  rates: listMap('How many within a time.', ['name'], rate, [0, 16]).default([]),
  perMachine,
  breakers: listMap('What stops acts when too much goes wrong.', ['name'], breaker, [0, 16]).default([]),
  zones,
  selfDoubt,
  controlPlane,
  quiet: windows('Times of each week without acts.', 'QuietTime', quietMore).default([]),
  freezes: freezes('Times without acts, once.', 16, 'DefenderFreeze', { risks: risks(1) }).default([]),
  blockers,
  capacity,
  drain: named('DefenderDrain', 'Drains; budgets of pods are always respected.', {
    maxBudgetWaitSeconds: int('How long a budget may hold a drain up.').default(1800),
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the API
    then: choice('What follows.', ['RequestApproval', 'Abort']).default('RequestApproval'),
  }).prefault({}),
  ruleWaves,
  approval: listMap('Acts that a person must approve.', ['name'], approval, [0, 8]).default([]),
});

const status = named('DefenderPolicyStatus', 'What the limits do.', {
  ...statusHead(defenderPolicyPhases.phases),
  ledgerSeq: bigInt('The write of the ledger that this was read from.').optional(),
  usage: list(
    'Limits in use, the fullest first.',
    named('LimitUsage', 'One limit.', {
      rule: text('Its name.', { max: 63 }).optional(),
      key: text('What it is counted under.', { max: 64 }).optional(),
      used: count('In use.'),
      limit: count('How many may be.'),
    }),
    [0, 20],
  ).optional(),
  breakers: list(
    'Breakers that are not closed.',
    named('BreakerStatus', 'One breaker.', {
      name: text('Its name.', { max: 63 }).optional(),
      key: text('What it is counted under.', { max: 64 }).optional(),
      state: choice('Where it stands.', ['Open', 'HalfOpen', 'NeedsPerson']).optional(),
      since: time('Since when.').optional(),
      evidence: message('What opened it.').optional(),
      closesAt: time('When it closes by itself.').optional(),
    }),
    [0, 20],
  ).optional(),
  denials: map(
    'Denials of the last 24 hours by reason; in Audit, what would have been denied.',
    int('How many.'),
    80,
  ).optional(),
});

export const defenderPolicy: Kind = {
  kind: 'DefenderPolicy',
  plural: 'defenderpolicies',
  shortName: 'kdp',
  lives: 'cluster',
  description:
    'Limits on everything that disturbs a node: concurrency, rates, zones, windows, breakers, kill switch.',
  nameMax: 63,
  spec,
  status,
  rules: [
    {
      rule: "self.metadata.name != 'fleet-default' || (self.spec.scope.nodeSelector.all && self.spec.mode == 'Enforce')",
      message: 'fleet-default must be for all nodes (nodeSelector: {all: true}) and in mode Enforce',
      fieldPath: '.spec',
    },
  ],
  columns: [
    { name: 'Mode', path: '.spec.mode' },
    PHASE,
    conditionColumn('InForce'),
    { name: 'Stopped', path: '.spec.killSwitch.engaged', type: 'boolean' },
    { name: 'Denied', path: '.status.denials' },
    { name: 'LedgerSeq', path: '.status.ledgerSeq', type: 'integer' },
    AGE,
  ],
  phases: defenderPolicyPhases,
};
