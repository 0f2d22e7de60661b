/** The git host of a Pipeline: what sync sends to it, and what it accepted. */
import { count } from '../common.ts';
import { choice, digest, flag, int, listMap, message, name, named, rules, text, time } from '../schema.ts';

const GIT_HOST_URL =
  "!has(self.url) || self.url.matches('^(https://|http://(localhost|127[.][0-9.]+|[[]::1[]])(:[0-9]+)?(/|$))')";

export const gitHost = rules(
  named('GitHost', 'The git host that shows how far each commit is.', {
    type: choice('The API of the host. Default: by its name, for github.com, gitlab.com and codeberg.org.', [
      'GitHub',
      'GitLab',
      'Gitea',
    ]).optional(),
    url: name(
      'Address of the host. Default: https and the host of the repository. Set it for a path or a port, or if ssh has a host of its own.',
      512,
    ).optional(),
    context: name(
      'Name of the commit status at the host. Default: kubenode/<name of the Pipeline>. Hubs that report about the same commits need different ones.',
      100,
    ).optional(),
    link: name(
      'Page that the commit status links to, such as the console. Default: no link.',
      512,
    ).optional(),
  }),
  {
    rule: GIT_HOST_URL,
    message: 'use a URL that begins with https://; plain http is allowed for loopback addresses only',
    fieldPath: '.url',
  },
  {
    rule: "!has(self.link) || self.link.matches('^https?://')",
    message: 'use a URL that begins with https:// or http://',
    fieldPath: '.link',
  },
);

export const commitStatuses = named(
  'PipelineCommitStatuses',
  'The commit statuses that the git host accepted.',
  {
    address: text('Repository and name of the statuses: for another address they are sent again.', {
      max: 1024,
    }).optional(),
    commits: listMap(
      'The commits, newest first.',
      ['commit'],
      named('SentCommitStatus', 'The status of one commit.', {
        commit: text('Commit id.', { max: 64 }),
        state: choice('The state that was sent.', ['Pending', 'Succeeded', 'Failed', 'Superseded']),
        message: message('The text that was sent.').optional(),
        sent: count('How often a status of this commit was sent.'),
        sentAt: time('When it was last sent.').optional(),
      }),
      [0, 128],
    ).optional(),
  },
);

export const planComments = named(
  'PlanComments',
  'Plans each open pull request for the ref, and writes the plan as a comment and as a commit status.',
  {
    forks: flag(
      'Whether pull requests from forks are planned. Their authors need no right in the repository, and the comment shows fields of live objects.',
    ).default(false),
  },
);

const PULL_REQUEST_MAX = 2_147_483_647;

export const plannedPulls = named('PipelinePlanComments', 'The plans that the git host accepted.', {
  address: text('Repository and name of the status: for another address they are written again.', {
    max: 1024,
  }).optional(),
  pullRequests: listMap(
    'The open pull requests with a plan.',
    ['number'],
    named('PlannedPullRequest', 'The plan of one pull request.', {
      number: int('Number of the pull request.', [1, PULL_REQUEST_MAX]),
      head: text('Commit that was planned.', { max: 64 }),
      base: text('Accepted commit that it was compared with.', { max: 64 }),
      comment: text('Id of the comment.', { max: 32 }),
      planDigest: digest('Digest of the plan. Absent: the commit is refused.').optional(),
      state: choice('The state of the commit status.', ['Succeeded', 'Failed']),
      message: message('The text of the commit status.').optional(),
      isPartial: flag('Whether a cluster did not answer: it is planned again later.').optional(),
      plannedAt: time('When it was planned.'),
    }),
    [0, 30],
  ).optional(),
});

const COMMIT = { max: 64 } as const;

export const reverts = listMap(
  'The reverts that sync made of commits that failed in a stage, newest first. Sync makes no second one of a commit.',
  ['commit'],
  named('PipelineRevert', 'A revert.', {
    commit: text('The commit that failed.', COMMIT),
    stage: name('The stage in which it failed.'),
    release: text('The Release of the commit.', { max: 253 }),
    proven: text('The commit that the stage had proven before: the revert goes back to its content.', COMMIT),
    onto: text('The head that the revert was made for.', COMMIT),
    revert: text('The commit that takes back what came after the proven one.', COMMIT),
    branch: name('The branch of the pull request.', 256),
    how: choice('Whether it is pushed to the tracked ref, or to the branch of a pull request.', [
      'Push',
      'Propose',
    ]),
    state: choice('Planned: it may be pushed already. Proposed: the pull request was created.', [
      'Planned',
      'Proposed',
      'Pushed',
    ]),
    failedClusters: listMap(
      'The clusters that had failed.',
      ['name'],
      named('RevertedCluster', 'A failed cluster.', {
        name: name('Name of the Cluster.', 253),
        reason: name('Why it failed.', 64).optional(),
      }),
      [0, 20],
    ).optional(),
    note: message('What a person has to know about it, such as why it was not pushed.', 1024).optional(),
    pullRequest: int('Number of the pull request.', [1, PULL_REQUEST_MAX]).optional(),
    url: text('Page of the pull request.', { max: 1024 }).optional(),
    plannedAt: time('When it was made: also the time of the commit.'),
  }),
  [0, 20],
);
