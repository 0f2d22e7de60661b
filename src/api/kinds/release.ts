/** Release: progress of one commit through one Pipeline. It has counts; details are in the Clusters. */
import { count, statusHead, waiting } from '../common.ts';
import { COMMIT } from '../patterns.ts';
import {
  choice,
  digest,
  immutable,
  int,
  list,
  listMap,
  message,
  name,
  named,
  reason,
  rules,
  text,
  time,
} from '../schema.ts';
import { releasePhases } from '../status/phase-tables.ts';
import { AGE, type Kind, PHASE, WAITING } from './kind.ts';

const SOME_COMMIT = { max: 64 } as const;

const spec = immutable(
  'a release',
  named('ReleaseSpec', 'The commit and its plan.', {
    pipeline: name('Name of the Pipeline.'),
    commit: text('Commit id.', { max: 64, pattern: COMMIT }),
    parent: text('Id of the parent commit.', SOME_COMMIT).optional(),
    author: text('Author of the commit, as the commit states it.', { max: 128 }).optional(),
    signer: text('Name of the key that signed the commit. Absent: no signature was verified.', {
      max: 128,
    }).optional(),
    authors: list(
      'Everybody who wrote or signed this commit and those since the release before it: names, addresses and keys, or * if they are too many. Absent: their signatures were not verified.',
      text('A name, an address or a key, in lower case.', { max: 128 }),
      [0, 100],
    ).optional(),
    approvals: list(
      'The approvals that this commit declares in its Pipeline.',
      named('ReleaseApproval', 'An approval of a plan for a stage.', {
        stage: name('Name of the stage.'),
        planDigest: digest('Digest of the plan.'),
      }),
      [0, 32],
    ).optional(),
    subject: text('First line of the commit message.', { max: 200 }).optional(),
    committedAt: time('When the commit was created.').optional(),
    revertOf: text('Id of the commit that this one reverts.', SOME_COMMIT).optional(),
    plan: named('ReleasePlan', 'What the commit changes in the fleet.', {
      digest: digest('Digest of the plan.'),
      clusters: int('Number of clusters of the pipeline.'),
      changed: int('Number of clusters that change.'),
      deletes: count('Number of objects that are deleted.'),
      unexercised: count('Number of changes that no earlier stage ran.'),
      stages: listMap(
        'Changes in each stage, against what its clusters had when the release was created.',
        ['name'],
        named('ReleasePlanStage', 'Changes in one stage.', {
          name: name('Name of the stage.'),
          clusters: int('Number of clusters of the stage.'),
          changed: int('Number of clusters that change.'),
          creates: count('Number of objects that are created.'),
          updates: count('Number of objects that are updated.'),
          deletes: count('Number of objects that are deleted.'),
        }),
        [0, 16],
      ).optional(),
    }),
  }),
);

const stage = rules(
  named('ReleaseStage', 'Progress of the release in one stage.', {
    name: name('Name of the stage.'),
    state: choice('State of the stage.', [
      'Pending',
      'Waiting',
      'Promoting',
      'Soaking',
      'Proven',
      'Failed',
      'Superseded',
    ]),
    startedAt: time('When the first cluster started.').optional(),
    soakUntil: time('When the soak ends.').optional(),
    provenAt: time('When the stage was proven.').optional(),
    failedAt: time(
      'When the stage first failed with this commit. It stays when the stage recovers.',
    ).optional(),
    waiting: waiting(),
    clusters: named('ReleaseStageClusters', 'Cluster counts of the stage.', {
      total: count('All clusters that git declares.'),
      pending: count('Not started.'),
      applying: count('Being applied.'),
      soaking: count('Soaking.'),
      proven: count('Proven.'),
      unchanged: count('Proven clusters whose rendered objects did not change.'),
      failed: count('Failed.'),
      unreachable: count('Not answering.'),
      skipped: count('Skipped because they did not answer for too long.'),
    }).optional(),
  }),
  {
    rule: "oldSelf.state != 'Proven' || self.state == 'Proven'",
    message: 'a proven stage cannot change its state',
    fieldPath: '.state',
    reason: 'FieldValueForbidden',
  },
);

const status = rules(
  named('ReleaseStatus', 'Progress of the release.', {
    ...statusHead(releasePhases.phases),
    waiting: waiting(),
    stages: listMap('The stages, in the order of promotion.', ['name'], stage, [0, 32]).optional(),
    stage: text('First stage that is not proven.', { max: 63 }).optional(),
    clusters: named('ReleaseClusters', 'Cluster counts of all stages.', {
      total: count('All clusters that git declares.'),
      proven: count('Proven.'),
      failed: count('Failed.'),
    }).optional(),
    failedClusters: listMap(
      'The first 20 clusters that failed.',
      ['name'],
      named('FailedCluster', 'A cluster that failed.', {
        name: name('Name of the cluster.'),
        stage: text('Stage of the cluster.', { max: 63 }).optional(),
        reason: reason().optional(),
        message: message().optional(),
        since: time('When it failed.').optional(),
      }),
      [0, 20],
    ).optional(),
    supersededBy: text('Newer Release that replaced this one.', { max: 253 }).optional(),
    startedAt: time('When the release started.').optional(),
    finishedAt: time('When the release ended, with any outcome.').optional(),
  }),
  {
    rule: '!has(oldSelf.finishedAt) || (has(self.finishedAt) && self.finishedAt == oldSelf.finishedAt)',
    message: 'finishedAt cannot be changed or removed',
    fieldPath: '.finishedAt',
    reason: 'FieldValueForbidden',
  },
);

export const release: Kind = {
  kind: 'Release',
  plural: 'releases',
  shortName: 'knr',
  lives: 'hub',
  description: 'Progress of one commit through one Pipeline.',
  nameMax: 253,
  spec,
  status,
  rules: [
    {
      rule: "self.metadata.name == self.spec.pipeline + '-' + self.spec.commit.substring(0, 12)",
      message: 'the name must be <pipeline>-<first 12 digits of the commit>',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    { name: 'Pipeline', path: '.spec.pipeline' },
    PHASE,
    { name: 'Stage', path: '.status.stage' },
    { name: 'Clusters', path: '.status.clusters.total', type: 'integer' },
    { name: 'Proven', path: '.status.clusters.proven', type: 'integer' },
    { name: 'Failed', path: '.status.clusters.failed', type: 'integer' },
    WAITING,
    AGE,
    { name: 'Commit', path: '.spec.commit', wide: true },
    { name: 'Subject', path: '.spec.subject', wide: true },
  ],
  phases: releasePhases,
};
