/** The part of a Cluster's status in which sync says what the cluster runs. */
import { count } from '../common.ts';
import { choice, digest, list, listMap, message, name, named, reason, text, time } from '../schema.ts';

const COMMIT = { max: 64 } as const;

export const sync = named('ClusterSync', 'What this cluster runs, as sync sees it.', {
  commit: text('The commit that it runs, or is moving to.', COMMIT).optional(),
  renderedDigest: digest('Digest of what was rendered for it.').optional(),
  release: text('The Release that brought it.', { max: 253 }).optional(),
  stage: text('The stage that it belongs to.', { max: 63 }).optional(),
  state: choice('Where it stands.', [
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
  since: time('Since when it stands there.').optional(),
  lastContactAt: time('When its API server last answered.').optional(),
  message: message().optional(),
  objects: named('SyncObjects', 'Objects of the last pass.', {
    total: count('Objects in git.'),
    applied: count('Of these, seen live as rendered.'),
    pruned: count('Deleted because they left git.'),
    failed: count('Not applied.'),
  }).optional(),
  failures: list(
    'The first objects that failed.',
    named('SyncFailure', 'One object that could not be applied.', {
      object: text('Kind/namespace/name.', { max: 320 }).optional(),
      reason: reason().optional(),
      message: message().optional(),
    }),
    [0, 20],
  ).optional(),
  proven: list(
    'Digests proven here, newest first; one of these skips the soak.',
    named('ProvenDigest', 'What was rendered once, and proven here.', {
      digest: digest('Digest of what was rendered.').optional(),
      commit: text('Its commit.', COMMIT).optional(),
      provenAt: time('When.').optional(),
    }),
    [0, 20],
  ).optional(),
  failed: list(
    'Digests that failed here and were not proven since, newest first; they are not started again.',
    named('FailedDigest', 'What was rendered once, and failed here.', {
      digest: digest('Digest of what was rendered.'),
      commit: text('Its commit.', COMMIT),
      failedAt: time('When.'),
      reason: reason().optional(),
      message: message().optional(),
    }),
    [0, 20],
  ).optional(),
  soak: named(
    'ClusterSoak',
    'The soak of what this cluster runs, so that a restart neither repeats nor shortens it.',
    {
      startedAt: time('When this cluster was given what soaks.').optional(),
      settledAt: time('When all of it was first seen applied and healthy.').optional(),
      observedAt: time('When its health was last seen good.').optional(),
      clocks: listMap(
        'The units that must soak; `*` is all of them under one clock, where they are many.',
        ['unit'],
        named('SoakClock', 'A unit that must soak.', {
          unit: name('The unit (chart).'),
          digest: digest('Digest of what soaks.'),
          since: time('Start of the soak; time in which health was not seen is taken out by moving it on.'),
        }),
        [0, 64],
      ).optional(),
      gates: listMap(
        'Runs of the checks of the stage during this soak.',
        ['name'],
        named('GateRuns', 'How one check went so far.', {
          name: name('The check.'),
          ranAt: time('When it last ran.').optional(),
          result: choice('What it said then.', ['Passed', 'Failed', 'Unknown']).optional(),
          failures: count('Runs that failed.'),
          inconclusive: count('Runs without an answer.'),
          message: message().optional(),
        }),
        [0, 16],
      ).optional(),
    },
  ).optional(),
});
