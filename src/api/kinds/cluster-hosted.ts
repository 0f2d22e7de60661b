/** The hosted control plane of a Cluster: spec and status. */
import { z } from 'zod';
import { count, freezes, waiting, windows } from '../common.ts';
import { BACKUP_PATTERN, HTTP_URL, KUBERNETES_VERSION_PATTERN, SHA256 } from '../patterns.ts';
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
    named('HostedNetwork', 'Address ranges and DNS domain of the cluster.', {
      podCIDR: text('Address range of pods.', { max: 64 }).default('10.244.0.0/16'),
      serviceCIDR: text('Address range of Services.', { max: 64 }).default('10.96.0.0/16'),
      serviceDomain: text('DNS domain of Services.', { max: 253, min: 1 }).default('cluster.local'),
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
    .meta({
      description: 'Number of etcd members. Odd, so that a majority exists. Fixed at creation.',
      type: 'integer',
    })
    .default(1),
  storageGiB: int('Volume size of each member in GiB.', [1, 512]).default(8),
  quotaMiB: int('Database size in MiB at which etcd refuses writes.', [64, 8192]).default(2048),
  backup: named('EtcdBackup', 'Snapshots of etcd.', {
    everySeconds: int('Seconds between two snapshots.', [300, 604_800]),
    keep: int('Number of snapshots that are kept.', [1, 100]).default(7),
    drillEverySeconds: int(
      'Seconds between two drills that restore the newest snapshot into a throw-away control plane. Absent: no drills.',
      [3600, 2_592_000],
    ).optional(),
  }).optional(),
  restoreFrom: text(
    'Backup that the control plane starts from, by its name, or "latest". Only backups of a Cluster of the same name. Read at creation only.',
    { max: 64, pattern: BACKUP_PATTERN },
  ).optional(),
}).prefault({ replicas: 1 });

const pki = named('HostedPki', 'Certificates of the control plane.', {
  leafLifetimeSeconds: int('Lifetime of leaf certificates.', [3600, 31_536_000]).default(31_536_000),
  renewAtPercent: percent(
    'Percentage of its lifetime after which a certificate is renewed.',
    [10, 90],
  ).default(70),
  caRotation: rules(
    named('CaRotation', 'Rotation of the certificate authority in two steps.', {
      id: name('Identifies the rotation. A new value begins another rotation.'),
      target: choice('Prepare: the old and the new authority are trusted. Complete: only the new one is.', [
        'Prepare',
        'Complete',
      ]),
    }),
    {
      rule: "self.target == 'Prepare' || self.id == oldSelf.id",
      message: 'target Complete must keep the id of the rotation that was prepared',
      fieldPath: '.id',
    },
  ).optional(),
}).prefault({});

const upgrade = named('HostedUpgrade', 'How a version upgrade is carried out.', {
  soakSeconds: int(
    'How long all components must stay healthy before the upgrade passes the point of no return.',
  ).default(60),
  progressDeadlineSeconds: int(
    'The upgrade fails when the components of a step are not healthy this long after they were started.',
  ).default(900),
  onFailure: choice('What to do after an upgrade failed before the point of no return.', [
    'Rollback',
    'Pause',
  ]).default('Rollback'),
  allowEtcdUpgrade: flag(
    'Whether etcd may be upgraded by a minor version. Only a snapshot can revert that.',
  ).default(false),
  windows: windows('Times at which a change of version, flags or add-ons may begin. Empty: always.').default(
    [],
  ),
  freezes: freezes('Periods without such changes. They also override windows.', 16).default([]),
}).prefault({});

const addon = named('HostedAddon', 'Manifests that are applied to the new cluster.', {
  name: name('Name of the addon.'),
  url: text('URL of the manifests.', { max: 512, pattern: HTTP_URL }),
  sha256: text('SHA-256 digest of the file in hex.', { max: 64, pattern: SHA256 }),
  enabled: flag('Whether the addon is applied.').default(true),
});

function part(sentence: string): Schema {
  return named('ControlPlanePart', 'A component of the control plane.', {
    extraArgs: map(
      'Additional command line flags, without leading dashes.',
      text('Value of the flag.'),
      32,
    ).default({}),
    cpuMillis: int('CPU request in thousandths of a core.').optional(),
    memoryMiB: int('Memory request in MiB.').optional(),
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
    version: text('Kubernetes version of the control plane.', {
      max: 32,
      pattern: KUBERNETES_VERSION_PATTERN,
    }),
    replicas: int('Number of API servers.', [1, 3]).default(1),
    network,
    etcd,
    apiServer: part('Settings of the API server.'),
    controllerManager: part('Settings of the controller manager.'),
    scheduler: part('Settings of the scheduler.'),
    exposure: named('HostedExposure', 'How the API server is reached.', {
      type: choice('Type of the Service in front of the API servers.', [
        'ClusterIP',
        'NodePort',
        'LoadBalancer',
      ]).default('ClusterIP'),
      host: text(
        'DNS name or IP address that certificate and kubeconfig contain. With driver process the control plane is reached from other machines when it is set.',
        { max: 253 },
      ).optional(),
      port: int(
        'Port of the API server. With driver process it counts where host is set.',
        [1, 65_535],
      ).default(6443),
    }).prefault({}),
    pki,
    upgrade,
    addons: listMap(
      'Manifests to apply to the new cluster, in this order.',
      ['name'],
      addon,
      [0, 16],
    ).default([]),
    ttlSecondsAfterReady: int(
      'The cluster is deleted this long after it became ready. Environment test only.',
      [60, 604_800],
    ).optional(),
    retryToken: text('A new value allows a version again that was rolled back.', { max: 64 }).optional(),
  }),
  {
    rule: "int(self.version.split('.')[1]) - int(oldSelf.version.split('.')[1]) in [-1, 0, 1]",
    message: 'the version may change by one minor version at a time',
    fieldPath: '.version',
  },
  {
    rule: '!has(self.etcd.restoreFrom) || (has(oldSelf.etcd.restoreFrom) && self.etcd.restoreFrom == oldSelf.etcd.restoreFrom)',
    message: 'a backup is restored at creation only: restoreFrom can be removed, and not set or changed',
    fieldPath: '.etcd.restoreFrom',
  },
);

const hostedComponent = named('HostedComponent', 'A component of the control plane.', {
  name: name('Name of the component.'),
  version: text('Version that runs.', VERSION).optional(),
  ready: count('Replicas that are ready.'),
  desired: count('Replicas that should run.'),
});

const hostedUpgradeStatus = named(
  'HostedUpgradeStatus',
  'The upgrade in progress. Written before each of its steps.',
  {
    from: text('Version before.', VERSION).optional(),
    to: text('Version after.', VERSION).optional(),
    step: text(
      'Step of the upgrade: Preflight, Snapshot, Etcd, APIServers, Managers, Soak, PointOfNoReturn or RollingBack.',
      VERSION,
    ).optional(),
    since: time('When the step began.').optional(),
    digest: text('Digest of the version and settings after.', { max: 80 }).optional(),
    controllers: text(
      'Image of kubenode that our own controllers are changed to. Absent: the version or settings are changed.',
      { max: 512 },
    ).optional(),
    retryToken: text('spec.hosted.retryToken that the step was tried with.', { max: 64 }).optional(),
    message: text('Why the upgrade failed and is taken back.', { max: 512 }).optional(),
  },
);

const hostedClosedTimes = named(
  'HostedClosedTimes',
  'The windows and freezes in force, with those that the last change of the control plane removed. They hold it until it is carried out.',
  {
    generation: bigInt('Generation of the spec that they hold.').optional(),
    target: text('Digest of the version, the settings and the add-ons of that spec.', { max: 80 }),
    windows: windows('Times at which a change may begin.'),
    freezes: freezes('Periods without changes.', 32),
  },
);

const hostedUpgradeRecord = named('HostedUpgradeRecord', 'A finished upgrade.', {
  from: text('Version before.', VERSION).optional(),
  to: text('Version after.', VERSION).optional(),
  at: time('When the upgrade ended.').optional(),
  result: choice('Result of the upgrade.', ['Completed', 'RolledBack']).optional(),
});

const hostedRolledBack = named(
  'HostedRolledBack',
  'The last upgrade that failed and was taken back. It is not tried again before spec.hosted.retryToken changes.',
  {
    version: text('Version that failed.', VERSION).optional(),
    digest: text('Digest of the version and settings that failed.', { max: 80 }).optional(),
    retryToken: text('spec.hosted.retryToken that it was tried with.', { max: 64 }).optional(),
    message: text('Why it failed.', { max: 512 }).optional(),
    at: time('When the former version ran again.').optional(),
  },
);

export const hostedStatus = named('ClusterHostedStatus', 'Observed state of the hosted control plane.', {
  observedGeneration: bigInt('Generation that hosting last acted on.').optional(),
  location: text('Machine and folder of the control plane. Written before it is created.', {
    max: 512,
  }).optional(),
  readyAt: time('When the control plane was ready for the first time.').optional(),
  rollbackPossible: flag('Whether the control plane can return to rollbackVersion.').optional(),
  rollbackVersion: text('Version that a rollback returns to.', VERSION).optional(),
  components: listMap('Components of the control plane.', ['name'], hostedComponent, [0, 8]).optional(),
  upgrade: hostedUpgradeStatus.optional(),
  rolledBack: hostedRolledBack.optional(),
  closedTimes: hostedClosedTimes.optional(),
  lastOutage: named(
    'HostedOutage',
    'How long the API server did not answer when hosting changed or started it last.',
    {
      at: time('When it answered again.'),
      milliseconds: count('How long it did not answer, at most: hosting asks it twice a second.'),
      cause: choice('Change: it was stopped and started again. Start: only the start was measured.', [
        'Change',
        'Start',
      ]),
    },
  ).optional(),
  deprecatedApis: list(
    'APIs that clients requested since the API server was started, and that a later version removes.',
    named('DeprecatedApi', 'An API that a later version removes.', {
      api: text('Group, version and resource.', { max: 253 }),
      removedIn: text('Minor version that does not serve it any more, such as 1.32.', VERSION),
    }),
    [0, 20],
  ).optional(),
  history: list('Finished upgrades, newest first.', hostedUpgradeRecord, [0, 10]).optional(),
  requests: named('HostedRequests', 'Resources that the control plane requests in the hub.', {
    pods: count('Number of pods.'),
    cpuMillis: count('CPU in thousandths of a core.'),
    memoryMiB: count('Memory in MiB.'),
  }).optional(),
  certificates: listMap(
    'Certificates of the control plane: those that components serve, as a client sees them, and those in files.',
    ['name'],
    named('HostedCertificate', 'A certificate.', {
      name: name('Component that serves the certificate, or name of the file.'),
      notAfter: time('When the certificate expires.').optional(),
      renewAt: time('When the certificate is renewed. Absent for a certificate authority.').optional(),
      serial: text('Serial number.', { max: 64 }).optional(),
    }),
    [0, 32],
  ).optional(),
  etcd: named('HostedEtcdStatus', 'The etcd of the control plane.', {
    members: count('Number of members.'),
    ready: count('Members that are ready.'),
    dbBytes: bigInt('Database size in bytes.').optional(),
    lastBackupAt: time('When the last backup was taken.').optional(),
    lastBackup: text('Name of the last backup.', { max: 64 }).optional(),
    backupRequest: text('Annotation kubenode.dev/backup-request that the last backup answers.', {
      max: 64,
    }).optional(),
    restoredFrom: text('Backup that the control plane started from.', { max: 64 }).optional(),
    lastDrillAt: time('When the last drill restored a backup.').optional(),
    lastDrill: named(
      'HostedDrill',
      'An API server read this in the last drill that restored a backup. Absent: no drill did, or it was made by an earlier version.',
      {
        backup: text('Backup that was restored.', { max: 64 }),
        clusterUID: text('UID of the namespace kube-system in it.', { max: 64 }).optional(),
        objects: count('Objects that were read: all that the backup has.'),
        resources: count('Resources that these objects are of.'),
        namespaces: count('Namespaces among the objects.'),
        kubenodeObjects: count('Objects of the kinds of kubenode.dev among them.'),
      },
    ).optional(),
    upkeep: named(
      'HostedUpkeep',
      'The backup or the restore drill that is being made. Absent while none is.',
      {
        type: choice('What is being made.', ['Backup', 'Drill']),
        step: choice(
          'Its current step. Waiting: another one is being made. Opening: a throw-away etcd reads the data. Serving: a throw-away API server does.',
          ['Waiting', 'Copying', 'Opening', 'Serving'],
        ),
        startedAt: time('When it began.'),
      },
    ).optional(),
  }).optional(),
  caRotation: named('CaRotationStatus', 'Rotation of the certificate authorities.', {
    id: text('Id of the rotation.', { max: 63 }).optional(),
    step: choice(
      'Current step of the rotation. Idle: it was not begun. Aborting: the former authorities take over again.',
      ['Idle', 'Preparing', 'Prepared', 'Completing', 'Completed', 'Aborting'],
    ).optional(),
    clients: named('CaRotationClients', 'The clients of the control plane.', {
      total: count('Number of clients that hold something of the authorities.'),
      moved: count(
        'Clients that have what the phase asks for: trust in both authorities, or what the new ones issue.',
      ),
    }).optional(),
    behind: list(
      'Clients that have not, the first 20.',
      text('Kind and name.', { max: 320 }),
      [0, 20],
    ).optional(),
  }).optional(),
  waiting: waiting('What hosting waits for. Absent while it does not wait.'),
});
