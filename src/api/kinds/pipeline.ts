/** Pipeline: promotes each commit through stages of clusters, with checks and limits for each stage. */
import {
  amount,
  checks,
  count,
  freezes,
  secretRefWithKey,
  selector,
  statusHead,
  waiting,
  windows,
} from '../common.ts';
import { ACCOUNT, FIELD_PATH, UNIT_NAME } from '../patterns.ts';
import {
  choice,
  digest,
  flag,
  int,
  list,
  listMap,
  message,
  NAME_MAX,
  name,
  named,
  percent,
  rules,
  text,
  time,
} from '../schema.ts';
import { pipelinePhases } from '../status/phase-tables.ts';
import { AGE, conditionColumn, type Kind, PHASE, WAITING } from './kind.ts';
import { commitStatuses, gitHost, planComments, plannedPulls, reverts } from './pipeline-githost.ts';

const COMMIT = { max: 64 } as const;
const REPOSITORY =
  "self.repository.matches('^((https|ssh|file)://|http://(localhost|127[.][0-9.]+|[[]::1[]])(:[0-9]+)?(/|$)|[A-Za-z0-9][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:.)')";

const signer = named('Signer', 'Signers that are allowed for some paths.', {
  name: name('Name used in messages.'),
  keysPath: name(
    'File in the repository with SSH keys in the format of allowed signers, or armored OpenPGP keys. A commit needs a key that the file has both in the accepted commit before and in the head.',
    256,
  ),
  paths: list(
    'Files and folders that these signers may change. Empty: all paths.',
    name('A file or folder.', 256),
    [0, 16],
  ).default([]),
});

const source = rules(
  named('PipelineSource', 'Git repository that declares the fleet.', {
    repository: name(
      'URL of the repository: https, ssh, git@host:path or file. http for loopback addresses only.',
      512,
    ),
    ref: name('Git ref that is followed.', 256).default('refs/heads/main'),
    path: name('Directory of the cdk8s app in the repository.', 256).default('.'),
    credentialsRef: secretRefWithKey(
      { type: 'TokenRef', key: 'token' },
      'git',
      'Secret with the token, the key or the GitHub App for the repository.',
    ).optional(),
    caRef: secretRefWithKey(
      { type: 'CaRef', key: 'ca.crt' },
      'git-ca',
      'Secret with additional certificate authorities for https.',
    ).optional(),
    pollSeconds: int('Seconds between two reads of the ref.', [1, 3600]).default(30),
    hostKeys: list(
      'SSH host keys as lines of known_hosts. A host without a key is not connected to.',
      name('A line.', 1024),
      [0, 16],
    ).default([]),
    signatures: choice('Which commits must be signed. Range: every commit since the last accepted one.', [
      'None',
      'Head',
      'Range',
    ]).default('None'),
    signers: listMap('Allowed signers.', ['name'], signer, [0, 16]).default([]),
    webhookSecretRef: secretRefWithKey(
      { type: 'WebhookSecretRef', key: 'secret' },
      'git-webhook',
      'Secret of the webhook at the git host, with a secret in each line. Default: no webhook.',
    ).optional(),
    statusCredentialsRef: secretRefWithKey(
      { type: 'TokenRef', key: 'token' },
      'git-status',
      'Secret with the token, or the GitHub App, for writing commit statuses. Default: no commit statuses.',
    ).optional(),
    gitHost: gitHost.optional(),
    planComments: planComments.optional(),
    writeCredentialsRef: secretRefWithKey(
      { type: 'TokenRef', key: 'token' },
      'git-push',
      'Secret with the token, or the GitHub App, for pushing reverts and creating their pull requests. With the key signing-key, an SSH key, sync signs them. Default: sync pushes nothing.',
    ).optional(),
    sopsKeysRef: secretRefWithKey(
      { type: 'SopsKeysRef', key: 'age.agekey' },
      'sops',
      'Secret with the age identities that decrypt objects of SOPS, one in each line. Default: encrypted objects are refused.',
    ).optional(),
    acceptHead: text(
      'Accepts this one head although it does not descend from the last applied commit.',
      COMMIT,
    ).optional(),
  }),
  {
    rule: REPOSITORY,
    message:
      'use a URL that begins with https://, ssh:// or file://, or git@host:path; plain http is allowed for loopback addresses only',
    fieldPath: '.repository',
  },
  {
    rule: "(self.signatures == 'None') == (self.signers.size() == 0)",
    message: 'set signers if signatures is Head or Range, and leave them out otherwise',
    fieldPath: '.signers',
  },
  {
    rule: '!has(self.gitHost) || has(self.statusCredentialsRef) || has(self.credentialsRef) || has(self.writeCredentialsRef)',
    message:
      'set statusCredentialsRef or writeCredentialsRef if gitHost is set, or credentialsRef with a GitHub App: without a token sync sends nothing to the host',
    fieldPath: '.gitHost',
  },
  {
    rule: '!has(self.planComments) || has(self.statusCredentialsRef)',
    message: 'set statusCredentialsRef if planComments is set: without a token sync writes no comment',
    fieldPath: '.planComments',
  },
  {
    rule: "!has(self.planComments) || (self.ref != 'HEAD' && !self.ref.startsWith('refs/tags/'))",
    message: 'pull requests are for a branch: set ref to refs/heads/NAME if planComments is set',
    fieldPath: '.planComments',
  },
);

const stage = named('Stage', 'Clusters that a commit is promoted to together, and what proves it there.', {
  name: name('Name of the stage.'),
  clusterSelector: selector(
    'Clusters of the stage. Also matches the labels kubenode.dev/environment and kubenode.dev/region, which are taken from spec.',
  ),
  maxConcurrentClusters: amount('Maximum number of clusters that change at the same time.').default(1),
  maxFailedClusters: amount('Number of clusters that may fail before the stage stops.').default(0),
  soakSeconds: int('How long a cluster must stay healthy before it is proven.', [0, 604_800]).default(300),
  checks: checks('Health checks that must pass during the whole soak.').default([]),
  approval: choice('Whether a person must approve. Unexercised: only changes that no earlier stage ran.', [
    'None',
    'Unexercised',
    'Required',
  ]).default('None'),
  approvalByOther: flag(
    'Whether an approval counts only if no author and no signer of the changes has part in it. It needs signatures: Range.',
  ).default(false),
  windows: windows('Times at which promotion may begin. Empty: always.').default([]),
  revertPasses: named('RevertPasses', 'What does not delay a revert.', {
    windows: flag('Whether a revert ignores windows.').default(true),
    freezes: flag('Whether a revert ignores freezes.').default(false),
  }).prefault({}),
  unreachable: named('UnreachablePolicy', 'What happens to clusters that do not answer.', {
    graceSeconds: int('Time after which an unreachable cluster is skipped.', [60, 604_800]).default(3600),
    maxSkipped: amount('Maximum number of skipped clusters with which the stage can be proven.').default(
      '10%',
    ),
  }).prefault({}),
});

const deleteBudget = named(
  'DeleteBudget',
  'How much one commit may delete from one unit of one cluster. The larger value applies.',
  {
    maxObjects: int('Maximum number of objects.', [0, 10_000]).default(10),
    maxPercent: percent('Maximum percentage of the objects.').default(20),
  },
).prefault({});

const unassigned = choice('What to do about clusters that no stage selects.', ['Ignore', 'Fail']);

const approvals = list(
  'Approvals of plans. An approval counts for exactly the content that the plan had: it lapses when the commit renders to other content.',
  named('Approval', 'Approval of a plan for a stage.', {
    stage: name('Name of the stage.'),
    planDigest: digest('Digest of the plan.'),
    reason: name('Why it is accepted.', 256),
  }),
  [0, 32],
);

const forceManagers = list(
  'Field managers whose fields sync takes over when they conflict with git. A commit that adds one takes over nothing: the next commit does.',
  name('Name of a field manager, as in metadata.managedFields.', 128),
  [0, 16],
);

const healthExpression = named('HealthExpression', 'When objects of one kind are healthy.', {
  group: name('API group of the kind, as argoproj.io.', 253),
  kind: name('Kind of the objects.', 63),
  healthy: name(
    'CEL expression over `self`, the object, that is true when it is healthy. While it reads a missing field, the object is not healthy.',
    512,
  ),
  failed: name(
    'CEL expression over `self` that is true when the object has failed and does not recover by itself.',
    512,
  ).optional(),
});

const healthExpressions = listMap(
  'When objects of other projects are healthy. The rules of the kind count as well: both have to find an object healthy.',
  ['group', 'kind'],
  rules(healthExpression, {
    rule: "self.group != 'kubenode.dev'",
    message: 'objects of kubenode report their health by conditions: remove the entry',
    fieldPath: '.group',
  }),
  [0, 16],
);

const fieldPolicy = rules(
  named('FieldPolicy', 'How one field is treated.', {
    unit: name('Unit (chart). Default: all units.', 63).optional(),
    kind: name('Kind of the objects.', 63),
    path: text('Field, as spec.replicas or metadata.annotations["example.com/a"].', {
      max: 256,
      pattern: FIELD_PATH,
    }),
    policy: choice(
      "Ignore: git's value is for the creation of the object. Later the field is neither compared nor written.",
      ['Ignore'],
    ),
  }),
  {
    rule: `!self.path.matches('^(apiVersion|kind|metadata|status)([.[]|$)') || self.path.matches('^metadata[.](annotations|labels)[[]"[^"]+"[]]$')`,
    message:
      'the identity and the status of an object cannot be ignored; of metadata name one annotation or label',
    fieldPath: '.path',
  },
  {
    rule: "!self.path.contains('kubenode.dev/')",
    message: 'sync finds its own objects by the labels and annotations of kubenode.dev: remove the entry',
    fieldPath: '.path',
  },
  {
    rule: "!(self.kind in ['Pipeline', 'DefenderPolicy', 'NodeRemedier'])",
    message: 'only git decides what Pipelines, DefenderPolicies and NodeRemediers limit: remove the entry',
    fieldPath: '.kind',
  },
);

const identity = named('UnitIdentity', 'Service account of one unit.', {
  unit: text('Name of the unit (chart).', { max: NAME_MAX, pattern: UNIT_NAME }),
  serviceAccount: text('Service account in the clusters, as namespace/name.', {
    max: 128,
    pattern: ACCOUNT,
  }),
});

const IDENTITIES =
  'Service accounts as which sync writes the objects of units in clusters. Units without an entry, and the objects of the hub, are written as kubenode-sync.';

/** Atomic lists without rules of their own: they are copies of what was validated in spec. */
const gateSet = named('PipelineGateSet', 'The fields of spec by which commits are judged.', {
  stages: list('The stages.', stage, [0, 32]),
  unassigned,
  deleteBudget,
  approvals,
  freezes: freezes('Periods without promotion.', 32).optional(),
  forceManagers: forceManagers.optional(),
  healthExpressions: list('Expressions about health.', healthExpression, [0, 32]).optional(),
  identities: list(IDENTITIES, identity, [0, 64]).optional(),
});

const gates = named('PipelineGates', 'By which gates commits are judged.', {
  commit: text('The newest commit when this was recorded.', COMMIT),
  inForce: gateSet.describe('The gates of this Pipeline now. They judge the next commit.'),
  judging: named(
    'PipelineJudging',
    'Stricter gates, which were in force before commits that are on their way.',
    {
      commits: list('The commits that they judge.', text('Commit id.', COMMIT), [0, 128]),
      gates: gateSet.describe('Of each field the strictest value since before these commits.'),
    },
  ).optional(),
});

const spec = rules(
  named('PipelineSpec', 'Source, stages and limits.', {
    source,
    stages: listMap('Stages in the order of promotion.', ['name'], stage, [1, 16]),
    unassigned: unassigned.default('Ignore'),
    freezes: freezes('Periods without promotion.', 32).default([]),
    paused: flag(
      'Whether promotion is paused. For git: a person stops a Pipeline with `kubenode release halt`.',
    ).default(false),
    halt: named(
      'PipelineHalt',
      'A stop by a person, which no commit lifts. Written by `kubenode release halt`, removed by `kubenode release resume`; git must not set it.',
      {
        by: name('User who stopped it.', 253),
        reason: name('Why it is stopped.', 256),
        since: time('When it was stopped.'),
      },
    ).optional(),
    acceptedHead: named(
      'PipelineAcceptedHead',
      'The head that a person accepted in place of the commits before it, and without signatures. It stays accepted: commits that descend from it need no acceptance. Written by `kubenode release accept-head`; git must not set it.',
      {
        commit: text('The accepted head.', COMMIT),
        replaces: list(
          'Commits that were applied before and that the head does not contain.',
          text('Commit id.', COMMIT),
          [0, 20],
        ).default([]),
        by: name('User who accepted it.', 253),
        since: time('When it was accepted.'),
      },
    ).optional(),
    historyLimit: int('Number of finished Releases that are kept.', [1, 100]).default(20),
    onFailure: choice(
      'What to do when the failure budget of a stage is spent. ProposeRevert: create a pull request that takes back the commits since the last one that is proven in the stage. PushRevert: push that commit to the ref, if the ref has not moved.',
      ['Stop', 'ProposeRevert', 'PushRevert'],
    ).default('Stop'),
    deleteBudget,
    acknowledgements: listMap(
      'Held plans that a person accepted.',
      ['planDigest'],
      named('Acknowledgement', 'Accepts the held plan of one unit.', {
        planDigest: digest('Digest of the plan.'),
        unit: name(
          "Name of the unit (chart). The hub's own units carry the name of their Pipeline: `fleet.pipelines`.",
          2 * NAME_MAX + 1,
        ),
        reason: name('Why it is accepted.', 256),
      }),
      [0, 16],
    ).default([]),
    approvals: approvals.default([]),
    forceManagers: rules(forceManagers, {
      rule: "self.all(manager, !manager.startsWith('kubenode-'))",
      message: 'a field of a kubenode controller has that controller as its only writer: remove the manager',
    }).default([]),
    healthExpressions: healthExpressions.default([]),
    fieldPolicies: list('Fields that sync leaves to other clients.', fieldPolicy, [0, 32]).default([]),
    identities: rules(listMap(IDENTITIES, ['unit'], identity, [0, 32]), {
      rule: "self.all(i, !i.serviceAccount.matches('^kubenode-(system|agents|hosts|audit)/'))",
      message:
        'the accounts of kubenode itself are for its own processes: name an account of another namespace',
    }).default([]),
  }),
  {
    rule: "self.onFailure == 'Stop' || has(self.source.writeCredentialsRef)",
    message: 'a revert needs a token of its own: set source.writeCredentialsRef, or onFailure to Stop',
    fieldPath: '.onFailure',
  },
  {
    rule: "self.onFailure == 'Stop' || self.source.repository.matches('^https?://')",
    message: 'sync pushes over https only: set source.repository to such a URL, or onFailure to Stop',
    fieldPath: '.onFailure',
  },
  {
    rule: "self.onFailure == 'Stop' || (self.source.ref != 'HEAD' && (self.source.ref.startsWith('refs/heads/') || !self.source.ref.startsWith('refs/')))",
    message: 'reverts are for a branch: set source.ref to refs/heads/NAME, or onFailure to Stop',
    fieldPath: '.onFailure',
  },
  {
    rule: 'self.approvals.all(a, self.stages.exists(s, s.name == a.stage))',
    message: 'each approval must name a stage of this pipeline',
    fieldPath: '.approvals',
  },
  {
    rule: "self.source.signatures == 'Range' || self.stages.all(s, !s.approvalByOther)",
    message: 'approvalByOther compares who signed: set source.signatures to Range',
    fieldPath: '.stages',
  },
  {
    rule: "self.stages.all(s, !s.approvalByOther || s.approval != 'None')",
    message: 'approvalByOther without an approval protects nothing: set approval to Unexercised or Required',
    fieldPath: '.stages',
  },
);

const REFUSALS = ['NotDescendant', 'BadSignature', 'RenderFailed', 'Refused'] as const;

/** The limit is that of a condition: a message tells what is wrong with several commits, and which commands help. */
const MESSAGE_MAX = 1024;

const refused = list(
  'The heads that were refused last, newest first. Nothing of them was applied.',
  named('RefusedHead', 'A head that was refused.', {
    commit: text('Commit id.', COMMIT),
    verdict: choice('Why sync did not accept the commit.', REFUSALS),
    message: message('What was wrong, with a hint.', MESSAGE_MAX).optional(),
    seenAt: time('When it was refused first.'),
  }),
  [0, 20],
);

const status = named('PipelineStatus', 'Observed state of the pipeline.', {
  ...statusHead(pipelinePhases.phases),
  waiting: waiting(),
  gates: gates.optional(),
  head: named('PipelineHead', 'The newest commit of the ref.', {
    commit: text('Commit id.', COMMIT).optional(),
    seenAt: time('When it was first observed.').optional(),
    verdict: choice('Whether sync accepts the commit.', ['Accepted', 'Rendering', ...REFUSALS]).optional(),
    message: message('What is wrong with it, with a hint.', MESSAGE_MAX).optional(),
    polledFor: text('Last value of the annotation kubenode.dev/poll-request for which the ref was read.', {
      max: 64,
    }).optional(),
  }).optional(),
  refused: refused.optional(),
  webhook: named('PipelineWebhook', 'The webhook of the repository.', {
    receivedAt: time('When sync last received a push of the ref that is signed with the secret.').optional(),
  }).optional(),
  commitStatuses: commitStatuses.optional(),
  planComments: plannedPulls.optional(),
  reverts: reverts.optional(),
  stages: listMap(
    'The stages, in the order of promotion.',
    ['name'],
    named('PipelineStageStatus', 'One stage.', {
      name: name('Name of the stage.'),
      clusters: named('StageClusters', 'Clusters of the stage.', {
        total: count('All clusters.'),
        proven: count('Clusters on which it is proven.'),
        failed: count('Clusters on which it failed.'),
        unreachable: count('Clusters that do not answer.'),
      }).optional(),
      commit: text('Newest commit that is proven in this stage.', COMMIT).optional(),
      release: text('Release of the commit.', { max: 253 }).optional(),
      provenAt: time('When the commit was proven.').optional(),
    }),
    [0, 32],
  ).optional(),
  clusters: named('PipelineClusters', 'Clusters of the pipeline.', {
    total: count('All clusters.'),
    proven: count('Clusters on which the head is proven.'),
    failed: count('Clusters on which the head failed.'),
    unassigned: count('Clusters that no stage selects.'),
  }).optional(),
});

export const pipeline: Kind = {
  kind: 'Pipeline',
  plural: 'pipelines',
  shortName: 'knp',
  lives: 'hub',
  description:
    'Promotes each commit of a repository through stages of clusters, with checks and limits for each stage.',
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
