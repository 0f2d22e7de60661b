/** DefenderPolicy: limits on everything that disturbs a node. Of all policies that match, the strictest answer applies. */
import { amount, count, freezes, selector, statusHead, windows } from '../common.ts';
import { FAULT_CLASSES, HOLDERS } from '../enums.ts';
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
import { defenderPolicyPhases } from '../status/phase-tables.ts';
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

const scope = named('DefenderScope', 'Acts that the policy applies to.', {
  nodeSelector: selector('Selected nodes.'),
  actions: actions(FOR_ACTIONS, 32),
  risks: risks(),
  holders: list('Kinds that ask for grants. Empty: all.', choice('A kind.', HOLDERS), [0, 6]).default([]),
});

/** Also of a FleetPolicy, and in the allowances that it leads to. */
export const killSwitchField = rules(
  named('KillSwitch', 'Stops new grants and renewals.', {
    engaged: flag('Whether the kill switch is engaged.').default(false),
    scope: choice('What is stopped.', ['All', 'Remedy', 'Rollout']).default('All'),
    reason: text('Why it is engaged.').optional(),
    by: name('User who engaged it.', 128).optional(),
    until: time('When it ends. Default: when it is disengaged.').optional(),
  }),
  {
    rule: "!self.engaged || (has(self.reason) && self.reason != '' && has(self.by))",
    message: 'an engaged kill switch needs by and reason',
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

const counting = named('DefenderCounting', 'How unavailable machines are counted.', {
  include: list('What counts as unavailable.', choice('A state.', COUNTED), [1, 6]).default([...COUNTED]),
  lingerSeconds: int('How long a settled grant still counts as unavailable.').default(900),
  smallPool: named('SmallPool', 'Rule for small pools, in which percentages mean little.', {
    below: int('A pool with fewer machines is small.').default(5),
    max: int('Maximum number of unavailable machines in a small pool.').default(1),
  }).prefault({}),
}).prefault({});

const zones = named(
  'ZoneGuard',
  'Detection of dark zones. In a dark zone nothing with a risk is done, and nothing is drained out of it.',
  {
    haltPercent: percent('Percentage of unhealthy nodes at which a zone is dark.').default(55),
    minNodes: int('Minimum number of nodes of a zone that is evaluated.').default(3),
  },
).prefault({});

const selfDoubt = named(
  'SelfDoubt',
  'When kubenode does not trust its own view and grants nothing disruptive.',
  {
    maxViewAgeSeconds: int('Maximum age of a watch. An older view is stale.').default(150),
    apiErrorPercent: percent('Percentage of failed API requests in one minute.').default(20),
    massUnknownPercent: percent('Percentage of nodes that become Unknown within withinSeconds.').default(20),
    withinSeconds: int('Period for massUnknownPercent.').default(120),
    secondVantage: list(
      'Vantage points that must confirm that a silent machine is the cause, before it is repaired.',
      choice(
        'A vantage point. PeerAgents: machines near it report, and the agents of its peers do not reach its kubelet. Provider: its provider or BMC tells its power.',
        ['PeerAgents', 'Provider'],
      ),
      [0, 2],
    ).default([]),
  },
).prefault({});

const controlPlane = named('ControlPlaneGuard', 'Limits for control plane nodes. The leader goes last.', {
  max: int('Maximum number of control plane nodes at the same time.', [0, 1]).default(1),
  readyAPIServersAfter: int('Ready API servers that must remain.').default(2),
  etcdQuorumAfter: flag('Whether etcd must keep its quorum.').default(true),
  actions: actions('Actions that are allowed. Empty: all.'),
}).prefault({});

const foreign = rules(
  named('ForeignMaintenance', 'A sign that another tool maintains the node.', {
    lease: text(
      'Namespace and name of a Lease that is held, as medik8s-leases/node-{node}. {node} is the name of the Node.',
      { max: 128, min: 1 },
    ).optional(),
    taint: text('Key of a taint.', { max: 128, min: 1 }).optional(),
    label: text('Key of a label.', { max: 128, min: 1 }).optional(),
  }),
  {
    rule: '[has(self.lease), has(self.taint), has(self.label)].exists_one(x, x)',
    message: 'give exactly one of lease, taint and label',
  },
);

const blockers = named('DefenderBlockers', 'What blocks an act.', {
  foreign: list('Signs of maintenance by other tools.', foreign, [0, 16]).default([]),
  podLabels: list(
    'Labels of pods that block acts on their node.',
    name('A label as key=value or key.', 128),
    [0, 8],
  ).default([]),
  minNodeAgeSeconds: int('A younger node is not repaired.').default(900),
  promql: listMap(
    'Prometheus queries. Any sample, error or timeout blocks.',
    ['name'],
    named('PromqlBlocker', 'A query.', {
      name: name('Name used in messages.'),
      query: name('PromQL query.', 1024),
    }),
    [0, 8],
  ).default([]),
}).prefault({});

const capacity = named('DefenderCapacity', 'Capacity for evicted pods.', {
  minFreePercent: map(
    'Percentage of each resource that must be free in the cluster after an act.',
    percent('Percentage.'),
    8,
  ).default({}),
  simulateScheduling: flag('Whether every Pod that an act evicts must fit on another node.').default(false),
}).prefault({});

const ruleWaves = named('RuleWaves', 'Waves in which a new rule is enforced.', {
  waves: list('Machines of each wave.', amount('Number of machines.'), [1, 8]).default([
    1,
    '5%',
    '20%',
    '100%',
  ]),
  soakSeconds: int('Time between two waves.').default(1800),
  minSuccessPercent: percent('Minimum percentage of successful repairs.').default(90),
}).prefault({});

const approval = named('ApprovalRule', 'Acts that a person must approve. No answer is a denial.', {
  name: name('Name used in messages.'),
  risks: risks(),
  actions: actions(FOR_ACTIONS),
  onlyLocalData: flag('Whether it applies to nodes with local data only.').default(false),
  approvers: list('Groups whose members may approve.', name('Name of a group.', 128), [1, 8]),
  timeoutSeconds: int('Time after which the request is denied.').default(7200),
});

const quietMore = {
  risks: risks(1),
  exceptFaultClasses: list(
    'Fault classes to which the quiet time does not apply.',
    choice('A fault class.', FAULT_CLASSES),
    [0, 9],
  ).default([]),
};

const spec = named('DefenderPolicySpec', 'Limits and their scope.', {
  mode: choice('Enforce denies. Audit only records what would be denied.', ['Enforce', 'Audit']).default(
    'Enforce',
  ),
  scope,
  killSwitch: killSwitchField,
  grantSeconds: int('Lifetime of a grant that is not renewed.', [30, 300]).default(300),
  counting,
  concurrency: listMap('Limits of concurrent acts.', ['name'], concurrency, [0, 16]).default([]),
  rates: listMap('Limits of acts in a period.', ['name'], rate, [0, 16]).default([]),
  perMachine,
  breakers: listMap('Breakers that stop acts when too much goes wrong.', ['name'], breaker, [0, 16]).default(
    [],
  ),
  zones,
  selfDoubt,
  controlPlane,
  quiet: windows('Weekly periods without acts.', 'QuietTime', quietMore).default([]),
  freezes: freezes('Single periods without acts.', 16, 'DefenderFreeze', { risks: risks(1) }).default([]),
  blockers,
  capacity,
  ruleWaves,
  approval: listMap('Acts that a person must approve.', ['name'], approval, [0, 8]).default([]),
});

const status = named('DefenderPolicyStatus', 'Observed effect of the limits.', {
  ...statusHead(defenderPolicyPhases.phases),
  ledgerSeq: bigInt('`seq` of the ledger that the status is computed from.').optional(),
  usage: list(
    'Limits in use, the fullest first.',
    named('LimitUsage', 'Use of one limit.', {
      rule: text('Name of the limit.', { max: 63 }).optional(),
      key: text('Scope that is counted, such as pool web.', { max: 64 }).optional(),
      used: count('Current count.'),
      limit: count('Maximum count.'),
    }),
    [0, 20],
  ).optional(),
  breakers: list(
    'Breakers that are not closed.',
    named('BreakerStatus', 'State of one breaker.', {
      name: text('Name of the breaker.', { max: 63 }).optional(),
      key: text('Scope that is counted, such as pool web.', { max: 64 }).optional(),
      state: choice('State of the breaker.', ['Open', 'HalfOpen', 'NeedsPerson']).optional(),
      since: time('When the state began.').optional(),
      evidence: message('What opened it.').optional(),
      closesAt: time('Earliest time at which the breaker closes.').optional(),
    }),
    [0, 20],
  ).optional(),
  alerts: listMap(
    'The last answers of Prometheus to the queries of blockers.promql.',
    ['name'],
    named('PolicyAlert', 'The last answer to one query.', {
      name: name('Name of the query.'),
      asked: text('Digest of the query.', { max: 12 }),
      state: choice('Quiet: no sample. Firing: at least one.', ['Quiet', 'Firing', 'Unknown']),
      at: time('When the query was sent.'),
      message: message('The number of samples, or the reason of Unknown.', 256).optional(),
    }),
    [0, 8],
  ).optional(),
  denials: map(
    'Denials of the last 24 hours by reason. In mode Audit, what would have been denied.',
    int('Number of denials.'),
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
