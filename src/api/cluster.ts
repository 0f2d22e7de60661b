/** Cluster: a cluster to keep in step with git, or a hosted control plane to create. */
import { z } from 'zod';
import { count, secretRefWithKey, statusHead, waiting } from './common.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';
import { HTTPS_URL, KUBERNETES_VERSION, SHA256, UUID } from './patterns.ts';
import { clusterPhases } from './phases.ts';
import {
  bigInt,
  choice,
  digest,
  flag,
  immutable,
  int,
  list,
  listMap,
  map,
  message,
  name,
  named,
  percent,
  reason,
  rules,
  type Schema,
  text,
  time,
} from './schema.ts';

const COMMIT = { max: 64 } as const;
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

const network = rules(
  immutable(
    'the network',
    named('HostedNetwork', 'Addresses and domain of the cluster.', {
      podCIDR: text('Addresses of pods.', { max: 64 }).default('10.244.0.0/16'),
      serviceCIDR: text('Addresses of services.', { max: 64 }).default('10.96.0.0/16'),
      serviceDomain: text('DNS domain of services.', { max: 253, min: 1 }).default('cluster.local'),
    }),
  ),
  {
    rule: 'isCIDR(self.podCIDR) && isCIDR(self.serviceCIDR)',
    message: 'podCIDR and serviceCIDR must be address ranges such as 10.244.0.0/16',
  },
).default({ podCIDR: '10.244.0.0/16', serviceCIDR: '10.96.0.0/16', serviceDomain: 'cluster.local' });

const etcd = named('HostedEtcd', 'The etcd of the control plane.', {
  replicas: z
    .literal([1, 3, 5])
    .meta({ description: 'Members: an odd number, so that a majority exists.', type: 'integer' })
    .default(1),
  storageGiB: int('Size of the volume of each member.', [1, 512]).default(8),
  quotaMiB: int('Size of the database at which etcd refuses writes.', [64, 8192]).default(2048),
  backup: named('EtcdBackup', 'Snapshots of etcd.', {
    everySeconds: int('How often.', [300, 604_800]),
    keep: int('How many are kept.', [1, 100]).default(7),
  }).optional(),
  restoreFrom: text('Snapshot to start from; read at creation only.', { max: 512 }).optional(),
}).prefault({ replicas: 1 });

const pki = named('HostedPki', 'Certificates of the control plane.', {
  leafLifetimeSeconds: int('Lifetime of a certificate.', [3600, 31_536_000]).default(31_536_000),
  renewAtPercent: percent('Renewed at this share of its lifetime.', [10, 90]).default(70),
  caRotation: rules(
    named('CaRotation', 'A new certificate authority, in two steps.', {
      id: name('Which rotation this is.'),
      target: choice('Prepare: both authorities are trusted. Complete: only the new one is.', [
        'Prepare',
        'Complete',
      ]),
    }),
    {
      rule: "self.target == 'Prepare' || self.id == oldSelf.id",
      message: 'a rotation is completed under the id under which it was prepared',
      fieldPath: '.id',
    },
  ).optional(),
}).prefault({});

const upgrade = named('HostedUpgrade', 'How a new version is rolled out.', {
  soakSeconds: int('How long each part must be healthy before the next.').default(60),
  progressDeadlineSeconds: int('Fails when it makes no progress for this long.').default(900),
  onFailure: choice('What happens then.', ['Rollback', 'Pause']).default('Rollback'),
  allowEtcdUpgrade: flag('Allows a new minor of etcd, which has no way back but the snapshot.').default(
    false,
  ),
}).prefault({});

const addon = named('HostedAddon', 'Manifests that are applied to the new cluster, in this order.', {
  name: name('What the addon is called.'),
  url: text('Where the manifests are.', { max: 512, min: 1 }),
  sha256: text('Digest of the file, hex.', { max: 64, pattern: SHA256 }),
  enabled: flag('Applied at all.').default(true),
});

function part(sentence: string): Schema {
  return named('ControlPlanePart', 'One part of the control plane.', {
    extraArgs: map('More arguments: flag without dashes to value.', text('The value.'), 32).default({}),
    cpuMillis: int('CPU request in thousandths of a core.').optional(),
    memoryMiB: int('Memory request.').optional(),
  })
    .describe(sentence)
    .prefault({});
}

const hosted = rules(
  named('ClusterHosted', 'A control plane that hosting creates.', {
    driver: immutable(
      'the driver',
      choice('workload: Deployments and StatefulSets in the hub; process: child processes.', [
        'workload',
        'process',
      ]),
    ),
    version: text('Kubernetes version.', { max: 32, pattern: KUBERNETES_VERSION }),
    replicas: int('API servers.', [1, 9]).default(1),
    network,
    etcd,
    apiServer: part('The API server.'),
    controllerManager: part('The controller manager.'),
    scheduler: part('The scheduler.'),
    exposure: named('HostedExposure', 'How the API server is reached.', {
      type: choice('Type of the Service.', ['ClusterIP', 'NodePort', 'LoadBalancer']).default('ClusterIP'),
      host: text('DNS name or address in the certificate and the kubeconfig.', { max: 253 }).optional(),
      port: int('Port.', [1, 65_535]).default(6443),
    }).prefault({}),
    pki,
    upgrade,
    addons: listMap('Manifests to apply, in this order.', ['name'], addon, [0, 16]).default([]),
    tunnel: named('HostedTunnel', 'Konnectivity.', {
      enabled: flag('Nodes are reached through a tunnel.').default(false),
    }).prefault({}),
    ttlSecondsAfterReady: int(
      'A throw-away cluster is deleted after this; environment test only.',
      [60, 604_800],
    ).optional(),
    retryToken: text('A new value tries a version again that was rolled back.', { max: 64 }).optional(),
  }),
  {
    rule: "int(self.version.split('.')[1]) - int(oldSelf.version.split('.')[1]) in [-1, 0, 1]",
    message: 'the version may move by one minor at a time',
    fieldPath: '.version',
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

const sync = named('ClusterSync', 'What this cluster runs, as sync sees it.', {
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

const hostedComponent = named('HostedComponent', 'One part of the control plane.', {
  name: name('Its name.'),
  version: text('Version that runs.', VERSION).optional(),
  ready: count('Replicas that are ready.'),
  desired: count('Replicas that are wanted.'),
});

const hostedUpgradeStatus = named(
  'HostedUpgradeStatus',
  'The upgrade in progress, written before each act.',
  {
    from: text('Version before.', VERSION).optional(),
    to: text('Version after.', VERSION).optional(),
    step: text('What is being done.', VERSION).optional(),
    since: time('Since when.').optional(),
  },
);

const hostedUpgradeRecord = named('HostedUpgradeRecord', 'A finished upgrade.', {
  from: text('Version before.', VERSION).optional(),
  to: text('Version after.', VERSION).optional(),
  at: time('When it ended.').optional(),
  result: choice('How it ended.', ['Completed', 'RolledBack']).optional(),
});

const hostedStatus = named('ClusterHostedStatus', 'The hosted control plane, as hosting sees it.', {
  observedGeneration: bigInt('The generation that hosting acted on.').optional(),
  rollbackPossible: flag('The version before can still be brought back.').optional(),
  rollbackVersion: text('That version.', VERSION).optional(),
  components: listMap('Parts of the control plane.', ['name'], hostedComponent, [0, 8]).optional(),
  upgrade: hostedUpgradeStatus.optional(),
  history: list('Finished upgrades, newest first.', hostedUpgradeRecord, [0, 10]).optional(),
  requests: named('HostedRequests', 'What the control plane asks of the hub.', {
    pods: count('Pods.'),
    cpuMillis: count('CPU in thousandths of a core.'),
    memoryMiB: count('Memory.'),
  }).optional(),
  certificates: listMap(
    'Certificates as they were seen on the wire.',
    ['name'],
    named('HostedCertificate', 'One certificate.', {
      name: name('What it is for.'),
      notAfter: time('When it ends.').optional(),
      serial: text('Serial number.', { max: 64 }).optional(),
    }),
    [0, 32],
  ).optional(),
  etcd: named('HostedEtcdStatus', 'The etcd of the control plane.', {
    members: count('Members.'),
    ready: count('Members that are ready.'),
    dbBytes: bigInt('Size of the database.').optional(),
    lastBackupAt: time('When the last backup was taken.').optional(),
  }).optional(),
  caRotation: named('CaRotationStatus', 'The rotation of the certificate authority.', {
    id: text('Which rotation.', { max: 63 }).optional(),
    step: choice('Where it stands.', ['Idle', 'Preparing', 'Prepared', 'Completing', 'Completed']).optional(),
  }).optional(),
  waiting: waiting('What hosting waits for; absent when it waits for nothing.'),
});

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
