/** FleetPolicy: limits that span clusters. Of all policies that select a cluster, every limit applies. */
import { count, selector, statusHead } from '../common.ts';
import { choice, int, list, listMap, message, name, named, rules, text, time } from '../schema.ts';
import { fleetPolicyPhases } from '../status/phase-tables.ts';
import { killSwitchField } from './defenderpolicy.ts';
import { commonCauseTerms, failedRolloutLimit, foundCauses } from './fleet-causes.ts';
import { FLEET_LIMIT_ID, fleetActions } from './fleet-limits.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';

const concurrency = rules(
  named('FleetConcurrency', 'A limit of clusters in which machines are disturbed at the same time.', {
    name: name('Name used in messages.', 32),
    per: choice('Counted things: clusters, or their regions, environments or values of a label.', [
      'Cluster',
      'Region',
      'Environment',
      'Label',
    ]),
    labelKey: text('Label of the Clusters for per: Label.', { max: 317, min: 1 }).optional(),
    max: int('Maximum count over the fleet.', [1, 10_000]),
    floor: int(
      'Whether a cluster without a valid allowance acts alone (1) or waits for the hub (0).',
      [0, 1],
    ).default(1),
  }),
  {
    rule: "(self.per == 'Label') == has(self.labelKey)",
    message: 'labelKey is required with per: Label, and not allowed otherwise',
    fieldPath: '.labelKey',
  },
);

const rate = rules(
  named('FleetRate', 'A limit of acts that begin within a period over the fleet.', {
    name: name('Name used in messages.', 32),
    actions: fleetActions(),
    max: int('Maximum count over the fleet.', [1, 100_000]),
    windowSeconds: int('Length of the period.', [60, 604_800]).default(3600),
    floor: int('Acts within the period of a cluster without a valid allowance.', [0, 1000]).default(1),
  }),
  {
    rule: 'self.floor <= self.max',
    message: 'floor must not exceed max',
    fieldPath: '.floor',
  },
);

const spec = named('FleetPolicySpec', 'Limits over clusters, and the clusters that they are for.', {
  clusterSelector: selector('Selected clusters, by the labels of their Clusters.'),
  killSwitch: killSwitchField,
  concurrency: listMap(
    'Limits of clusters that are disturbed at once.',
    ['name'],
    concurrency,
    [0, 8],
  ).default([]),
  rates: listMap('Limits of acts within a period.', ['name'], rate, [0, 8]).default([]),
  commonCause: commonCauseTerms.optional(),
  failedRollouts: failedRolloutLimit.optional(),
  allowanceSeconds: int(
    'How long an allowance lasts that is not renewed. A cluster notices a hub that is away after this time.',
    [120, 3600],
  ).default(300),
  cutOff: named('FleetCutOff', 'How clusters are counted that the hub does not reach.', {
    countSeconds: int(
      'How long a cluster counts with its floor after its allowance ended.',
      [0, 604_800],
    ).default(3600),
  }).prefault({}),
});

const status = named('FleetPolicyStatus', 'Use of the limits, and who waits.', {
  ...statusHead(fleetPolicyPhases.phases),
  clusters: named('FleetPolicyClusters', 'Clusters that the policy selects.', {
    total: count('Number of clusters.'),
    current: count('Clusters that adopted an allowance of this hub that is valid.'),
    stopped: count('Clusters that adopted the stop of this policy.'),
    cutOff: list(
      'Clusters that the hub does not reach or does not serve, the first 20.',
      named('FleetCutOffCluster', 'A cluster that the hub does not reach or does not serve.', {
        cluster: name('Name of the Cluster.'),
        since: time('When the state began.'),
        message: message().optional(),
      }),
      [0, 20],
    ).optional(),
  }).optional(),
  limits: listMap(
    'Use of each limit.',
    ['id'],
    named('FleetLimitUsage', 'Use of one limit over the fleet.', {
      id: name('Policy and limit, as <policy>/<limit>.', FLEET_LIMIT_ID),
      used: count('Use by all clusters.'),
      given: count('Shares of all clusters, with what is counted for those that are cut off.'),
      max: count('Maximum count.'),
    }),
    [0, 16],
  ).optional(),
  waiting: list(
    'Clusters that wait for a share, the longest wait first, at most 20.',
    named('FleetWaiting', 'A cluster that waits for a share.', {
      cluster: name('Name of the Cluster.'),
      limit: name('Policy and limit, as <policy>/<limit>.', FLEET_LIMIT_ID),
      since: time('When it first asked for it.'),
      message: message().optional(),
    }),
    [0, 20],
  ).optional(),
  causes: foundCauses,
  failedRollouts: count(
    'Rollouts that failed over the fleet within the period. Of one cluster they are fewer than the limit.',
  ),
});

export const fleetPolicy: Kind = {
  kind: 'FleetPolicy',
  plural: 'fleetpolicies',
  shortName: 'knfp',
  lives: 'hub',
  description: 'Limits that span clusters: clusters in work at once, acts within a period, one stop for all.',
  nameMax: 63,
  spec,
  status,
  columns: [
    PHASE,
    conditionColumn('InForce'),
    { name: 'Stopped', path: '.spec.killSwitch.engaged', type: 'boolean' },
    { name: 'Clusters', path: '.status.clusters.total', type: 'integer' },
    { name: 'Current', path: '.status.clusters.current', type: 'integer' },
    AGE,
  ],
  phases: fleetPolicyPhases,
};
