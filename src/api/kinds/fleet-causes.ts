/** Schemas of causes over clusters: as each cluster reports them, as the hub finds them, and as every cluster holds them. */
import { FLEET_CAUSE_KEY, FLEET_CAUSES, MAX_FLEET_CAUSES } from '../enums.ts';
import { choice, int, list, listMap, message, name, named, text, time } from '../schema.ts';

const MAX_REPORTED = 32;

const dimension = choice('Property that has the value.', FLEET_CAUSES);
const value = text('The value: a MachineComponent, a NodeRemedier, a kernel.', { min: 1, max: 160 });
/** The keys of an entry. */
const KEYS = ['dimension', 'value'];

export const commonCauseTerms = named(
  'FleetCommonCause',
  'When something that fails in several clusters is held in all of them.',
  {
    clusters: int('Number of clusters in which it fails.', [2, 1000]).default(2),
    withinSeconds: int('Period within which it has to fail in them.', [60, 86_400]).default(3600),
    holdSeconds: int('How long it is held after it last failed in so many clusters.', [60, 604_800]).default(
      3600,
    ),
    ignored: list(
      'Causes that are never held, as <dimension>=<value>.',
      text('A cause.', { max: FLEET_CAUSE_KEY }),
      [0, 32],
    ).default([]),
  },
);

export const failedRolloutLimit = named(
  'FleetFailedRollouts',
  'When so many rollouts failed that none begins in any cluster.',
  {
    max: int('Number of rollouts that failed within the period.', [1, 1000]),
    windowSeconds: int('Length of the period.', [60, 86_400]).default(3600),
  },
);

/** The causes in an allowance. The ledger takes them over. */
export const heldCauses = listMap(
  'Causes that failed in several clusters, and are held in this one. Absent: no policy asks for reports.',
  KEYS,
  named('FleetCause', 'A cause that failed in several clusters.', {
    dimension,
    value,
    policy: name('FleetPolicy that holds it.'),
    until: time('End of the hold, also while the hub is away.'),
    message: message('In which clusters it failed, for people.'),
  }),
  [0, MAX_FLEET_CAUSES],
).optional();

export const reportedFailures = listMap(
  'Failures of the cluster in the last day.',
  KEYS,
  named('FleetFailure', 'A failure in one cluster.', {
    dimension,
    value,
    at: time('When it was last known to fail.'),
    message: message('The failure, for people.'),
  }),
  [0, MAX_REPORTED],
).optional();

export const reportedRollouts = listMap(
  'Rollouts that failed in the last day.',
  ['set', 'revision'],
  named('FailedRollout', 'A rollout that failed.', {
    set: name('Name of the MachineComponentSet.', 63),
    revision: text('Revision that failed.', { min: 1, max: 64 }),
    at: time('When it failed.'),
  }),
  [0, MAX_REPORTED],
).optional();

export const foundCauses = listMap(
  'Causes that fail in several clusters, and are held.',
  KEYS,
  named('FoundCause', 'A cause that fails in several clusters.', {
    dimension,
    value,
    since: time('When it was found.'),
    until: time('Until when it is held. Renewed while it fails.'),
    clusters: listMap(
      'Clusters in which it failed, the first 20.',
      ['cluster'],
      named('FoundCauseCluster', 'A cluster in which it failed.', {
        cluster: name('Name of the Cluster.'),
        commit: text(
          'Commit that the cluster ran when the failure was first reported. It is not promoted further.',
          {
            max: 64,
          },
        ).optional(),
        at: time('When it was last known to fail there.'),
      }),
      [0, 20],
    ),
    message: message('The failure and its clusters, for people.'),
  }),
  [0, MAX_FLEET_CAUSES],
).optional();
