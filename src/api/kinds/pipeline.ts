/** Pipeline: the road of every commit. Stages in order, what proves a stage, and how much may fail. */
import {
  amount,
  checks,
  count,
  freezes,
  secretRef,
  secretRefWithKey,
  selector,
  statusHead,
  waiting,
  windows,
} from '../common.ts';
import { pipelinePhases } from '../phases.ts';
import {
  choice,
  digest,
  flag,
  int,
  list,
  listMap,
  message,
  name,
  named,
  percent,
  rules,
  text,
  time,
} from '../schema.ts';
import { AGE, conditionColumn, type Kind, PHASE, WAITING } from './kind.ts';

const COMMIT = { max: 64 } as const;
const REPOSITORY =
  "self.repository.matches('^((https|ssh|file)://|http://(localhost|127[.][0-9.]+|[[]::1[]])(:[0-9]+)?(/|$)|[A-Za-z0-9][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:.)')";

const signer = named('Signer', 'Who may sign commits, and for which paths.', {
  name: name('What the signers are called in messages.'),
  keysPath: name('File of allowed signers in the repository, as it was before the commits in question.', 256),
  paths: list('Paths that they may change; none: all.', name('A path.', 256), [0, 16]).default([]),
});

const source = rules(
  named('PipelineSource', 'Where the fleet is declared.', {
    repository: name(
      'URL of the repository: https, ssh, git@host:path or file; http for loopback addresses only.',
      512,
    ),
    ref: name('The ref that is followed.', 256).default('refs/heads/main'),
    path: name('Folder of the cdk8s app.', 256).default('.'),
    credentialsRef: secretRefWithKey(
      'TokenRef',
      'Secret with the token or key for the repository.',
      'token',
    ).optional(),
    caRef: secretRefWithKey('CaRef', 'Secret with more CAs for https.', 'ca.crt').optional(),
    pollSeconds: int('How often the ref is read.', [1, 3600]).default(30),
    hostKeys: list(
      'SSH host keys, lines as in known_hosts; a host without one gets no connection.',
      name('A line.', 1024),
      [0, 16],
    ).default([]),
    signatures: choice('Which commits must be signed; Range: every one since the last applied one.', [
      'None',
      'Head',
      'Range',
    ]).default('None'),
    signers: listMap('Who may sign.', ['name'], signer, [0, 16]).default([]),
    webhookSecretRef: secretRef('Secret of the webhook; absent: no webhook.').optional(),
    statusCredentialsRef: secretRef('Secret to report on commits; absent: no reports.').optional(),
    writeCredentialsRef: secretRef('Secret to push a revert branch; absent: no such branch.').optional(),
    sopsKeysRef: secretRef('Secret with keys for SOPS; absent: no SOPS.').optional(),
    acceptHead: text(
      'A person accepts this one head that does not descend from the last applied commit.',
      COMMIT,
    ).optional(),
  }),
  {
    rule: REPOSITORY,
    message:
      'use a URL that begins with https://, ssh:// or file://, or git@host:path; plain http is for loopback addresses only',
    fieldPath: '.repository',
  },
);

const stage = named('Stage', 'Clusters that a commit reaches together, and what proves it there.', {
  name: name('What the stage is called.'),
  clusterSelector: selector(
    'Its clusters; also matches the labels kubenode.dev/environment and kubenode.dev/region, taken from spec.',
  ),
  maxConcurrentClusters: amount('Clusters that are busy at one time.').default(1),
  maxFailedClusters: amount('Clusters that may fail before the stage stops.').default(0),
  soakSeconds: int('How long a cluster must stay healthy before it is proven.', [0, 604_800]).default(300),
  checks: checks('What must hold through the whole soak.').default([]),
  approval: choice('Whether a person must approve; Unexercised: only a change that no earlier stage ran.', [
    'None',
    'Unexercised',
    'Required',
  ]).default('None'),
  approvalByOther: flag('Another person than the author must approve.').default(false),
  windows: windows('When promotion may begin; none: always.').default([]),
  revertPasses: named('RevertPasses', 'What does not hold up a revert.', {
    windows: flag('Windows do not.').default(true),
    freezes: flag('Freezes do not.').default(false),
  }).prefault({}),
  unreachable: named('UnreachablePolicy', 'What becomes of clusters that do not answer.', {
    graceSeconds: int('After this long a cluster is skipped.', [60, 604_800]).default(3600),
    maxSkipped: amount('With more than these skipped, the stage is not proven.').default('10%'),
  }).prefault({}),
});

const deleteBudget = named(
  'DeleteBudget',
  'What one commit may delete of one unit of one cluster; the larger counts.',
  {
    maxObjects: int('Objects.', [0, 10_000]).default(10),
    maxPercent: percent('Share of the objects.').default(20),
  },
).prefault({});

const spec = rules(
  named('PipelineSpec', 'Source, stages and limits.', {
    source,
    stages: listMap('Stages in the order of promotion.', ['name'], stage, [1, 16]),
    unassigned: choice('What a cluster of no stage means.', ['Ignore', 'Fail']).default('Ignore'),
    freezes: freezes('Times without any promotion.', 32).default([]),
    paused: flag('Nothing is promoted.').default(false),
    historyLimit: int('Finished Releases that are kept.', [1, 100]).default(20),
    onFailure: choice('What happens when a stage fails.', ['Stop', 'ProposeRevert', 'PushRevert']).default(
      'Stop',
    ),
    deleteBudget,
    acknowledgements: listMap(
      'Held plans that a person released.',
      ['planDigest'],
      named('Acknowledgement', 'Releases the held plan of one unit.', {
        planDigest: digest('Digest of the plan.'),
        unit: name('The unit.'),
        reason: name('Why, for people.', 256),
      }),
      [0, 16],
    ).default([]),
    approvals: list(
      'Approvals; one lapses when the plan becomes more destructive.',
      named('Approval', 'A person lets a plan into a stage.', {
        stage: name('The stage.'),
        planDigest: digest('Digest of the plan.'),
        reason: name('Why, for people.', 256),
      }),
      [0, 32],
    ).default([]),
    forceManagers: list(
      'Field managers from which sync takes fields over.',
      name('A manager.', 128),
      [0, 16],
    ).default([]),
    fieldPolicies: list(
      'What happens with fields that others add.',
      named('FieldPolicy', 'A field that others may write.', {
        unit: text('The unit; absent: all.', { max: 63 }).optional(),
        kind: text('The kind; absent: all.', { max: 63 }).optional(),
        path: text('The field.').optional(),
        policy: choice('Whose value counts.', ['Override', 'Merge', 'Ignore']),
      }),
      [0, 32],
    ).default([]),
    identities: listMap(
      'Whom sync impersonates for a unit.',
      ['unit'],
      named('UnitIdentity', 'The identity for one unit.', {
        unit: name('The unit.'),
        serviceAccount: name('namespace/name of the ServiceAccount.', 128),
      }),
      [0, 32],
    ).default([]),
  }),
  {
    rule: 'self.approvals.all(a, self.stages.exists(s, s.name == a.stage))',
    message: 'each approval must name a stage of this pipeline',
    fieldPath: '.approvals',
  },
);

const status = named('PipelineStatus', 'How far the head has come.', {
  ...statusHead(pipelinePhases.phases),
  waiting: waiting(),
  head: named('PipelineHead', 'The newest commit of the ref.', {
    commit: text('The commit.', COMMIT).optional(),
    seenAt: time('When it was first seen.').optional(),
    verdict: choice('What sync thinks of it.', [
      'Accepted',
      'NotDescendant',
      'BadSignature',
      'RenderFailed',
      'Refused',
    ]).optional(),
    message: message().optional(),
  }).optional(),
  stages: listMap(
    'The stages, in the order of promotion.',
    ['name'],
    named('PipelineStageStatus', 'One stage.', {
      name: name('The stage.'),
      clusters: named('StageClusters', 'Its clusters.', {
        total: count('All.'),
        proven: count('Proven.'),
        failed: count('Failed.'),
        unreachable: count('Not reached.'),
      }).optional(),
      commit: text('The newest commit proven there.', COMMIT).optional(),
      release: text('Its Release.', { max: 253 }).optional(),
      provenAt: time('When it was proven.').optional(),
    }),
    [0, 16],
  ).optional(),
  clusters: named('PipelineClusters', 'Clusters of the pipeline.', {
    total: count('All.'),
    proven: count('That run the head.'),
    failed: count('That failed.'),
    unassigned: count('Of no stage.'),
  }).optional(),
});

export const pipeline: Kind = {
  kind: 'Pipeline',
  plural: 'pipelines',
  shortName: 'knp',
  lives: 'hub',
  description: 'The road of every commit: stages in order, what proves a stage, and how much may fail.',
  nameMax: 63,
  spec,
  status,
  columns: [
    PHASE,
    conditionColumn('SourceReady'),
    { name: 'Clusters', path: '.status.clusters.total', type: 'integer' },
    { name: 'Proven', path: '.status.clusters.proven', type: 'integer' },
    { name: 'Failed', path: '.status.clusters.failed', type: 'integer' },
    WAITING,
    AGE,
    { name: 'Head', path: '.status.head.commit', wide: true },
  ],
  phases: pipelinePhases,
};
