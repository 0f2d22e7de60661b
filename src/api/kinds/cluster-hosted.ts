/** The part of a Cluster that is about a control plane which hosting creates. */
import { z } from 'zod';
import { count, waiting } from '../common.ts';
import { KUBERNETES_VERSION, SHA256 } from '../patterns.ts';
import {
  bigInt,
  choice,
  flag,
  immutable,
  int,
  list,
  listMap,
  map,
  name,
  named,
  percent,
  rules,
  type Schema,
  text,
  time,
} from '../schema.ts';

const VERSION = { max: 32 } as const;

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

export const hosted = rules(
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

export const hostedStatus = named('ClusterHostedStatus', 'The hosted control plane, as hosting sees it.', {
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
