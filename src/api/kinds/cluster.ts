/** Cluster: a cluster to keep in step with git, or a hosted control plane to create. */

import { count, secretRefWithKey, statusHead, waiting } from '../common.ts';
import { HTTPS_URL, UUID } from '../patterns.ts';
import { clusterPhases } from '../phases.ts';
import { choice, flag, int, listMap, name, named, rules, text, time } from '../schema.ts';
import { hosted, hostedStatus } from './cluster-hosted.ts';
import { sync } from './cluster-sync.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';

const VERSION = { max: 32 } as const;

const pause = named('ClusterPause', 'A part of the cluster that sync leaves alone.', {
  name: name('What the pause is called.'),
  unit: name('The unit (chart); without unit and object all of the cluster.').optional(),
  object: text('One object: Kind/namespace/name.', { max: 320, min: 1 }).optional(),
  by: name('Who paused it.'),
  reason: name('Why, for people.', 256),
  until: time('When it ends by itself.').optional(),
});

const connection = rules(
  named('ClusterConnection', 'How to reach a cluster that exists.', {
    inCluster: flag('The hub itself.').default(false),
    server: text('URL of the API server; default is that of the kubeconfig.', {
      max: 512,
      pattern: HTTPS_URL,
    }).optional(),
    credentialsRef: secretRefWithKey(
      'KubeconfigRef',
      'Secret with a kubeconfig, in namespace kubenode-system of the hub.',
      'kubeconfig',
    ).optional(),
  }),
  {
    rule: 'self.inCluster != has(self.credentialsRef)',
    message: 'give either inCluster: true (the hub itself) or credentialsRef (another cluster)',
    fieldPath: '.credentialsRef',
  },
);

const deletion = named('ClusterDeletion', 'What happens when the Cluster is deleted.', {
  protection: flag('A delete needs the annotation kubenode.dev/confirm-delete.').default(true),
  policy: choice('Delete: the hosted control plane goes too. Orphan: it stays.', [
    'Delete',
    'Orphan',
  ]).default('Delete'),
  force: flag('Also when its API is dead.').default(false),
  timeoutSeconds: int('How long it may take.', [60, 86_400]).default(1800),
}).prefault({});

const spec = rules(
  named('ClusterSpec', 'How to reach the cluster, or which control plane to create.', {
    environment: choice('Which environment it belongs to.', ['test', 'pre', 'prod']),
    region: text('Where it runs.').optional(),
    paused: flag('Sync and hosting stop writing; healing in the cluster goes on.').default(false),
    pauses: listMap('Parts that sync leaves alone.', ['name'], pause, [0, 16]).default([]),
    clusterUID: text(
      'UID of its namespace kube-system. Another UID blocks every write; absent: the first contact is pinned.',
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
    message: 'a hosted cluster stays hosted, and another one cannot become hosted',
    reason: 'FieldValueForbidden',
  },
  {
    rule: "self.environment != 'prod' || self.deletion.protection || oldSelf.hasValue()",
    message: 'a prod cluster is created with deletion.protection: true; it can be lifted later',
    fieldPath: '.deletion.protection',
    optionalOldSelf: true,
  },
  {
    rule: "!has(self.hosted) || !has(self.hosted.ttlSecondsAfterReady) || self.environment == 'test'",
    message: 'only a cluster of environment test may be thrown away by ttlSecondsAfterReady',
    reason: 'FieldValueForbidden',
  },
);

const status = named('ClusterStatus', 'What is known of the cluster.', {
  ...statusHead(clusterPhases.phases),
  waiting: waiting(),
  clusterUID: text('UID of its namespace kube-system, as it was seen.', { max: 36 }).optional(),
  endpoint: text('URL by which it is reached.', { max: 512 }).optional(),
  version: text('Version of the lowest API server that answers.', VERSION).optional(),
  machines: named('ClusterMachines', 'Machines of the cluster, read at most once a minute.', {
    total: count('All.'),
    ready: count('Ready.'),
    upToDate: count('At their declared versions.'),
    failed: count('That failed.'),
  }).optional(),
  sync: sync.optional(),
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
