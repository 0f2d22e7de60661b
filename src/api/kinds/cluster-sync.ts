/** `status.sync` of a Cluster: what sync applied to it. */
import { count, gateRuns } from '../common.ts';
import { choice, digest, flag, list, listMap, message, name, named, reason, text, time } from '../schema.ts';
import { commitRuns } from './cluster-history.ts';

const COMMIT = { max: 64 } as const;
const UNIT = { max: 127 } as const;
const NAME = { max: 128 } as const;

const objects = named('SyncObjects', 'Object counts of the last reconcile.', {
  total: count('Objects in git.'),
  applied: count('Objects of git that are live as rendered.'),
  pruned: count('Objects deleted because they were removed from git.'),
  failed: count('Objects that could not be applied.'),
});

const failure = named('SyncFailure', 'An object that could not be applied, or that failed afterwards.', {
  object: text('Object as Kind/namespace/name.', { max: 320 }).optional(),
  unit: text('Unit (chart) of the object.', UNIT).optional(),
  reason: reason().optional(),
  message: message().optional(),
});

const failures = list('The first objects that could not be applied.', failure, [0, 20]);

const unhealthy = list(
  'The first objects that were applied, and that their controllers report as failed.',
  failure,
  [0, 20],
);

const held = list(
  'Units whose deletes are held. A commit that acknowledges them in the Pipeline releases them.',
  named('HeldDeletes', 'A unit whose deletes are held.', {
    unit: text('Name of the unit (chart).', UNIT),
    planDigest: digest('Digest of the plan, which an acknowledgement names.'),
  }),
  [0, 20],
);

const drift = named('CorrectedDrift', 'What others changed in this cluster, and sync wrote back.', {
  total: count('Corrections since the first one.'),
  objects: list(
    'The objects that were corrected last, newest first, each once.',
    named('CorrectedObject', 'An object that others changed, and sync wrote back.', {
      object: text('Object as Kind/namespace/name.', { max: 320 }),
      unit: text('Unit (chart) of the object.', UNIT).optional(),
      change: choice(
        'Changed: fields differed from git. Deleted: the object was missing, and sync created it again.',
        ['Changed', 'Deleted'],
      ),
      fields: list('The first fields that differed.', text('Path of a field.', NAME), [0, 5]).optional(),
      managers: list(
        'Field managers that owned these fields. None is known for a field that was removed, or an object that was deleted.',
        text('Name of a field manager.', NAME),
        [0, 3],
      ).optional(),
      changedAt: time('When these managers last wrote, by the clock of the API server.').optional(),
      foundAt: time('When sync found the change.'),
      correctedAt: time('When sync had written the object back.'),
      commit: text('Commit as which it was written back.', COMMIT),
      since: time('First of the corrections that are counted.'),
      count: count('Corrections of this object since then.'),
    }),
    [0, 20],
  ).optional(),
});

const revisions = list(
  'Contents that this cluster ran and that `kubenode rollback` can return to without git, newest first.',
  named('KeptRevision', 'A content of this cluster that is kept.', {
    commit: text('Commit that it was rendered from.', COMMIT),
    digest: digest('Digest of the rendered objects.'),
    keptAt: time('When it was last applied, or proven.'),
  }),
  [0, 20],
);

export const assigned = named('ClusterAssigned', 'What promotion assigned to this cluster.', {
  pipeline: text('Pipeline that assigned it.', { max: 253 }),
  commit: text('Commit to apply.', COMMIT).optional(),
  digest: digest('Digest of the objects rendered for this cluster. Other content is not written.').optional(),
  mode: choice('Apply: write the objects and correct drift. Observe: write nothing.', ['Apply', 'Observe']),
  provenBefore: flag(
    'Whether the content was proven in this cluster before: units that exist do not wait for those that they depend on.',
  ).optional(),
  rollback: flag(
    'Whether this is the return of a person, by `kubenode rollback`. Once that ends, nothing of it is written: the next assignment follows.',
  ).optional(),
});

export const report = named(
  'ClusterApplyReport',
  'What the holder of the Lease of this Cluster reports while another process holds the Lease of its Pipeline.',
  {
    holder: text('Identity of the process.', { max: 253 }),
    commit: text('Commit that it applies.', COMMIT),
    digest: digest('Digest of the objects rendered for this cluster.'),
    state: choice('Result of its last reconcile.', ['Applying', 'Applied', 'Held', 'Failed']),
    reason: reason(),
    message: message(),
    objects,
    failures: failures.optional(),
    held: held.optional(),
    drift: drift.optional(),
    revisions: revisions.optional(),
  },
);

export const sync = named('ClusterSync', 'What sync applied to this cluster.', {
  commit: text('Commit that is applied or being applied.', COMMIT).optional(),
  renderedDigest: digest('Digest of the objects rendered for this cluster.').optional(),
  release: text('Release of the commit.', { max: 253 }).optional(),
  stage: text('Stage of the cluster.', { max: 63 }).optional(),
  state: choice('State of the rollout to this cluster.', [
    'Pending',
    'Applying',
    'Soaking',
    'Proven',
    'Failed',
    'Held',
    'Paused',
    'Ahead',
    'Skipped',
    'Unreachable',
  ]).optional(),
  since: time('When the state began.').optional(),
  lastContactAt: time('When its API server last answered.').optional(),
  message: message().optional(),
  objects: objects.optional(),
  failures: failures.optional(),
  unhealthy: unhealthy.optional(),
  held: held.optional(),
  drift: drift.optional(),
  units: list(
    'Units that git declares for this cluster, or that the inventory in it lists.',
    text('Name of the unit (chart).', { max: 127 }),
    [0, 500],
  ).optional(),
  revisions: revisions.optional(),
  rollbackEnd: named('RollbackEnd', 'The end of the rollback in `spec.rollback`: git caught up with it.', {
    since: time('When the rollback began.'),
    endedAt: time('When it ended.'),
    commit: text('Commit that contains the revision for this cluster.', COMMIT),
  }).optional(),
  history: commitRuns.optional(),
  proven: list(
    'Rendered digests proven on this cluster, newest first. They skip the soak.',
    named('ProvenDigest', 'A rendered digest that is proven on this cluster.', {
      digest: digest('Digest of the rendered objects.').optional(),
      commit: text('Commit that it was rendered from.', COMMIT).optional(),
      provenAt: time('When it was proven.').optional(),
    }),
    [0, 20],
  ).optional(),
  failed: list(
    'Rendered digests that failed on this cluster and were not proven since, newest first. They are not started again, unless they were proven before.',
    named('FailedDigest', 'A rendered digest that failed on this cluster.', {
      digest: digest('Digest of the rendered objects.'),
      commit: text('Commit that it was rendered from.', COMMIT),
      failedAt: time('When it failed.'),
      provenAt: time('When it was proven here before, if it was: a revert may return to it.').optional(),
      reason: reason().optional(),
      message: message().optional(),
    }),
    [0, 20],
  ).optional(),
  soak: named(
    'ClusterSoak',
    'Progress of the soak. Kept so that a restart neither repeats nor shortens it.',
    {
      startedAt: time('When the content was assigned to this cluster.').optional(),
      provenAt: time('When the content was proven here, before it failed and was assigned again.').optional(),
      settledAt: time('When all objects were first observed applied and healthy.').optional(),
      observedAt: time('When the cluster was last observed healthy.').optional(),
      clocks: listMap(
        'Units that soak. `*` stands for all units when there are too many to list.',
        ['unit'],
        named('SoakClock', 'A unit that soaks.', {
          unit: name('Name of the unit (chart).'),
          digest: digest('Digest of the rendered unit.'),
          since: time('Start of the soak. Moved forward by each period in which health was not observed.'),
        }),
        [0, 64],
      ).optional(),
      gates: gateRuns('Results of the checks of the stage during this soak.').optional(),
    },
  ).optional(),
});
