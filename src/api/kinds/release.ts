/** Release: one commit on its way through one Pipeline. It holds counts; details are in the Clusters. */
import { count, statusHead, waiting } from '../common.ts';
import { COMMIT } from '../patterns.ts';
import { releasePhases } from '../phases.ts';
import {
  choice,
  digest,
  immutable,
  int,
  listMap,
  message,
  name,
  named,
  reason,
  rules,
  text,
  time,
} from '../schema.ts';
import { AGE, type Kind, PHASE, WAITING } from './kind.ts';

const SOME_COMMIT = { max: 64 } as const;

const spec = immutable(
  'a release',
  named('ReleaseSpec', 'Which commit goes through which pipeline.', {
    pipeline: name('The Pipeline.'),
    commit: text('The commit.', { max: 64, pattern: COMMIT }),
    parent: text('The commit before.', SOME_COMMIT).optional(),
    author: text('Who wrote it.', { max: 128 }).optional(),
    subject: text('First line of its message.', { max: 200 }).optional(),
    committedAt: time('When it was committed.').optional(),
    revertOf: text('The commit that this one takes back.', SOME_COMMIT).optional(),
    plan: named('ReleasePlan', 'What the commit changes.', {
      digest: digest('Digest of the plan.'),
      clusters: int('Clusters of the pipeline.'),
      changed: int('Of these, clusters that change.'),
      deletes: count('Objects that are deleted.'),
      disrupts: count('Machines that the plan disrupts.'),
      unexercised: count('Changes that no earlier stage ran.'),
    }),
  }),
);

const stage = rules(
  named('ReleaseStage', 'The release in one stage.', {
    name: name('The stage.'),
    state: choice('Where it stands.', [
      'Pending',
      'Waiting',
      'Promoting',
      'Soaking',
      'Proven',
      'Failed',
      'Superseded',
    ]),
    startedAt: time('When the first cluster began.').optional(),
    soakUntil: time('When the soak ends.').optional(),
    provenAt: time('When it was proven.').optional(),
    waiting: waiting(),
    clusters: named('ReleaseStageClusters', 'Clusters of the stage.', {
      total: count('All.'),
      pending: count('Not begun.'),
      applying: count('Being written.'),
      soaking: count('Watched.'),
      proven: count('Proven.'),
      unchanged: count('Of these, proven at once as nothing changed for them.'),
      failed: count('Failed.'),
      unreachable: count('Not reached.'),
      skipped: count('Skipped, as they were not reached for too long.'),
    }).optional(),
  }),
  {
    rule: "oldSelf.state != 'Proven' || self.state == 'Proven'",
    message: 'a stage that is proven stays proven',
    fieldPath: '.state',
    reason: 'FieldValueForbidden',
  },
);

const status = rules(
  named('ReleaseStatus', 'How far the release has come.', {
    ...statusHead(releasePhases.phases),
    waiting: waiting(),
    stages: listMap('The stages, in the order of promotion.', ['name'], stage, [0, 16]).optional(),
    stage: text('The first stage that is not proven.', { max: 63 }).optional(),
    clusters: named('ReleaseClusters', 'Clusters over all stages.', {
      total: count('All.'),
      proven: count('Proven.'),
      failed: count('Failed.'),
    }).optional(),
    failedClusters: listMap(
      'The first clusters that failed; the counts say how many there are.',
      ['name'],
      named('FailedCluster', 'A cluster that failed.', {
        name: name('The cluster.'),
        stage: text('Its stage.', { max: 63 }).optional(),
        reason: reason().optional(),
        message: message().optional(),
        since: time('Since when.').optional(),
      }),
      [0, 20],
    ).optional(),
    supersededBy: text('The Release that took over.', { max: 253 }).optional(),
    startedAt: time('When it began.').optional(),
    finishedAt: time('When it ended, with any outcome.').optional(),
  }),
  {
    rule: '!has(oldSelf.finishedAt) || (has(self.finishedAt) && self.finishedAt == oldSelf.finishedAt)',
    message: 'a release ends once: finishedAt cannot be changed or taken away',
    fieldPath: '.finishedAt',
    reason: 'FieldValueForbidden',
  },
);

export const release: Kind = {
  kind: 'Release',
  plural: 'releases',
  shortName: 'knr',
  lives: 'hub',
  description: 'One commit on its way through one Pipeline.',
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
