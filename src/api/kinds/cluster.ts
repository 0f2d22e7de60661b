/** Cluster: a cluster that is synced with git, or a hosted control plane to create. */
import { machineCounts, secretRefWithKey, statusHead, waiting } from '../common.ts';
import { HTTPS_URL, PAUSED_OBJECT, UUID } from '../patterns.ts';
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
  rules,
  text,
  time,
} from '../schema.ts';
import { INCIDENT_REASONS } from '../status/incident-reasons.ts';
import { clusterPhases } from '../status/phase-tables.ts';
import { hosted, hostedStatus } from './cluster-hosted.ts';
import { assigned, report, sync } from './cluster-sync.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';

const VERSION = { max: 32 } as const;

const pause = rules(
  named('ClusterPause', 'A part of the cluster that sync does not write to.', {
    name: name('Name of the pause.', 127),
    unit: name(
      'Unit (chart) that is paused. Without unit and object the whole cluster is paused.',
    ).optional(),
    object: text('Object that is paused, as Kind/namespace/name or Kind/name, whatever its API group.', {
      max: 320,
      pattern: PAUSED_OBJECT,
    }).optional(),
    by: name('User who paused it.'),
    reason: name('Why it is paused.', 256),
    since: time('When it was paused.').optional(),
    until: time('When the pause ends. Default: when it is removed.').optional(),
  }),
  {
    rule: '!has(self.unit) || !has(self.object)',
    message: 'give either unit or object: an object is paused in any unit',
  },
);

const rollback = named(
  'ClusterRollback',
  'A rollback by a person, which no commit lifts. Written by `kubenode rollback`; git must not set it.',
  {
    commit: text('Commit of the revision.', { max: 64 }),
    digest: digest('Digest of the objects of the revision.'),
    by: name('User who rolled the cluster back.', 253),
    reason: name('Why it was rolled back.', 256),
    since: time('When it was rolled back.'),
  },
);

const connection = rules(
  named('ClusterConnection', 'How to reach an existing cluster.', {
    inCluster: flag('true: the cluster is the hub itself.').default(false),
    server: text(
      'URL of the API server. Default: the server of the kubeconfig. The Secret must permit another host.',
      {
        max: 512,
        pattern: HTTPS_URL,
      },
    ).optional(),
    credentialsRef: secretRefWithKey(
      { type: 'KubeconfigRef', key: 'kubeconfig' },
      'kubeconfig',
      'Secret with a kubeconfig, in namespace kubenode-system of the hub.',
    ).optional(),
  }),
  {
    rule: 'self.inCluster != has(self.credentialsRef)',
    message: 'give either inCluster: true (the hub itself) or credentialsRef (another cluster)',
    fieldPath: '.credentialsRef',
  },
);

const deletion = named('ClusterDeletion', 'What happens when the Cluster is deleted.', {
  protection: flag(
    'Whether deleting the Cluster requires the annotation kubenode.dev/confirm-delete.',
  ).default(true),
  policy: choice('Delete: the hosted control plane is deleted too. Orphan: it is left running.', [
    'Delete',
    'Orphan',
  ]).default('Delete'),
  force: flag('Whether to delete the control plane even if its API server does not answer.').default(false),
  timeoutSeconds: int('Maximum duration of the deletion.', [60, 86_400]).default(1800),
}).prefault({});

const spec = rules(
  named('ClusterSpec', 'How to reach the cluster, or which control plane to create.', {
    environment: choice(
      'Environment of the cluster. Stages can select it by the label kubenode.dev/environment.',
      ['test', 'pre', 'prod'],
    ),
    region: text('Region of the cluster. Stages can select it by the label kubenode.dev/region.').optional(),
    paused: flag(
      'Whether sync and hosting stop writing to the cluster. Repairs inside the cluster continue.',
    ).default(false),
    pauses: listMap('Parts of the cluster that sync does not write to.', ['name'], pause, [0, 16]).default(
      [],
    ),
    rollback: rollback.optional(),
    clusterUID: text(
      'UID of the namespace kube-system of the cluster. A cluster with another UID is never written to. Default: the UID found at first contact.',
      {
        max: 36,
        pattern: UUID,
      },
    ).optional(),
    connection: connection.optional(),
    hosted: hosted.optional(),
    deletion,
  }),
  {
    rule: 'has(self.connection) != has(self.hosted)',
    message: 'give either connection (a cluster that exists) or hosted (a control plane to create)',
  },
  {
    rule: 'has(self.hosted) == has(oldSelf.hosted)',
    message: 'hosted cannot be added to or removed from an existing Cluster',
    reason: 'FieldValueForbidden',
  },
  {
    rule: "self.environment != 'prod' || self.deletion.protection || oldSelf.hasValue()",
    message: 'a prod cluster must be created with deletion.protection: true; you can set it to false later',
    fieldPath: '.deletion.protection',
    optionalOldSelf: true,
  },
  {
    rule: "!has(self.hosted) || !has(self.hosted.ttlSecondsAfterReady) || self.environment == 'test'",
    message: 'ttlSecondsAfterReady is allowed for environment test only',
    reason: 'FieldValueForbidden',
  },
);

const status = named('ClusterStatus', 'Observed state of the cluster.', {
  ...statusHead(clusterPhases.phases),
  waiting: waiting(),
  clusterUID: text('Observed UID of the namespace kube-system.', { max: 36 }).optional(),
  endpoint: text('URL at which the API server is reached.', { max: 512 }).optional(),
  version: text('Lowest Kubernetes version of the API servers that answer.', VERSION).optional(),
  machines: machineCounts('Machines of the cluster, as its Defender counted them last.'),
  incidents: list(
    'What endangers the machines of the cluster, or stops their repairs and updates.',
    named('ClusterIncident', 'What endangers the machines of a cluster.', {
      reason: choice('What it is.', INCIDENT_REASONS),
      message: message(),
      since: time('When it began.').optional(),
    }),
    [0, 20],
  ).optional(),
  sync: sync.optional(),
  assigned: assigned.optional(),
  report: report.optional(),
  hosted: hostedStatus.optional(),
});

export const cluster: Kind = {
  kind: 'Cluster',
  plural: 'clusters',
  shortName: 'knc',
  lives: 'hub',
  description: 'A cluster to keep in step with git: how to reach it, or a hosted control plane to create.',
  nameMax: 63,
  spec,
  status,
  columns: [
    { name: 'Environment', path: '.spec.environment' },
    { name: 'Version', path: '.status.version' },
    PHASE,
    conditionColumn('Reachable'),
    conditionColumn('Synced'),
    { name: 'Release', path: '.status.sync.release' },
    { name: 'Machines', path: '.status.machines.ready', type: 'integer' },
    AGE,
    { name: 'Region', path: '.spec.region', wide: true },
    { name: 'Endpoint', path: '.status.endpoint', wide: true },
    { name: 'Commit', path: '.status.sync.commit', wide: true },
  ],
  phases: clusterPhases,
};
