/** Machine: one node. How to create or reach it, its labels and taints, and the components it must run. */
import { count, HOSTS, PROVIDERS, RISKS, secretRefWithKey, statusHead, waiting } from './common.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';
import { FINGERPRINT } from './patterns.ts';
import { machinePhases } from './phases.ts';
import {
  bigInt,
  choice,
  digest,
  flag,
  foreign,
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

const REF = { max: 81 } as const;

/** Shared with MachineSet, whose template is the shape of a Machine. */
export const infra = named('MachineInfra', 'Who provides the machine.', {
  provider: immutable('the provider', choice('The infra provider.', PROVIDERS)),
  config: foreign(
    'What the provider needs to know; it checks this itself: condition InfraConfigValid.',
  ).default({}),
});

export const host = named('MachineHost', 'How the agent acts on the machine.', {
  type: choice('systemd: a real node. sandbox: a folder and child processes.', HOSTS).default('systemd'),
}).prefault({});

export const node = rules(
  named('MachineNode', 'What the Node shows. Labels, annotations and taints of others are never touched.', {
    labels: map('Labels of the Node.', text('The value.', { max: 63 }), 64).optional(),
    annotations: map('Annotations of the Node.', text('The value.', { max: 1024 }), 64).optional(),
    taints: listMap(
      'Taints of the Node.',
      ['key', 'effect'],
      named('Taint', 'Keeps pods away that do not tolerate it.', {
        key: name('Its key.', 317),
        value: text('Its value.', { max: 63 }).optional(),
        effect: choice('What it does.', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
      }),
      [0, 32],
    ).default([]),
  }),
  {
    rule: "!has(self.labels) || self.labels.all(k, !k.startsWith('kubenode.dev/'))",
    message: 'labels that begin with kubenode.dev/ are set by kubenode itself',
    fieldPath: '.labels',
    reason: 'FieldValueForbidden',
  },
).prefault({});

export const deletion = named('MachineDeletion', 'What happens when the Machine is deleted.', {
  drain: choice('How pods are moved away. Respect: with their budgets.', [
    'Respect',
    'Force',
    'Skip',
  ]).default('Respect'),
  drainTimeoutSeconds: int('How long the drain may take.').default(1800),
  timeoutSeconds: int('How long all of it may take.').default(7200),
  cleanup: choice('What becomes of the host. Restore: as it was found. Orphan: as it is.', [
    'Restore',
    'Wipe',
    'Orphan',
  ]).default('Restore'),
}).prefault({});

const hostKey = named('HostKey', 'An SSH host key, as `ssh-keygen -l` prints it.', {
  algorithm: name('Its algorithm.', 32),
  fingerprint: text('Its fingerprint.', { max: 50, pattern: FINGERPRINT }),
});

const takeOver = rules(
  named('MachineImport', 'Takes over a host that exists; provider ssh only.', {
    address: name('Host name or IP address.', 253),
    port: int('SSH port.', [1, 65_535]).default(22),
    user: name('SSH user.').default('root'),
    credentialsRef: secretRefWithKey(
      'SshKeyRef',
      'Secret in kubenode-system; not needed once the agent has its certificate.',
      'ssh-privatekey',
    ),
    hostKeyPolicy: choice('Pinned: only the keys below. TrustOnFirstUse: the first one seen.', [
      'Pinned',
      'TrustOnFirstUse',
    ]).default('Pinned'),
    hostKeys: list('Keys that the host may show.', hostKey, [0, 8]).optional(),
    existingNode: choice(
      'What to do with a Node that is there. Adopt reports differences and restarts nothing.',
      ['Reject', 'Adopt', 'Converge'],
    ).default('Reject'),
    dryRun: flag('Only the checks before; changes nothing on the host.').default(false),
    skipChecks: list('Checks to leave out.', name('A check.'), [0, 16]).default([]),
  }),
  {
    rule: "self.hostKeyPolicy != 'Pinned' || (has(self.hostKeys) && size(self.hostKeys) > 0)",
    message: 'hostKeyPolicy Pinned needs at least one key in hostKeys (see `ssh-keygen -l`)',
    fieldPath: '.hostKeys',
    reason: 'FieldValueRequired',
  },
);

const component = rules(
  named('MachineComponentEntry', 'A component that the machine must run.', {
    name: name('What is installed, as kubelet.'),
    componentRef: name('The MachineComponent of one version, as kubelet-1.31.4.', 81),
    digest: digest("Digest of the MachineComponent's spec."),
    state: choice('Absent removes it.', ['Present', 'Absent']).default('Present'),
    parameters: map('Resolved parameters.', text('The value.', { max: 1024 }), 32).default({}),
    assignment: named(
      'ComponentAssignment',
      'Where the entry comes from; written by the component set controller.',
      {
        set: text('The MachineComponentSet; absent: a pin.', { max: 63 }).optional(),
        revision: name('Revision of the set, r-<8 hex digits>.', 64),
        batch: count('Batch of the rollout.'),
      },
    ).optional(),
    grant: named('ComponentGrant', 'Permission to activate this entry; without it the agent only stages.', {
      id: name('Id of the grant.', 64),
      fence: bigInt('Fence of the grant.'),
      entryDigest: digest('Digest of the entry without assignment and grant.'),
      notAfter: time('When the permission ends.'),
    }).optional(),
  }),
  {
    rule: "self.componentRef.startsWith(self.name + '-')",
    message: 'componentRef must be a version of this component: <name>-<version>',
    fieldPath: '.componentRef',
  },
);

const spec = rules(
  named('MachineSpec', 'What the machine should be.', {
    infra,
    import: takeOver.optional(),
    host,
    zone: text('Failure zone.').optional(),
    node,
    readinessGates: list(
      'Conditions that others set here; each must be True before the start-up taint goes.',
      named('ReadinessGate', 'A condition that somebody else sets.', { conditionType: name('Its type.') }),
      [0, 8],
    ).default([]),
    minReadySeconds: int('How long it must be ready before the start-up taint goes.', [0, 3600]).default(0),
    components: listMap('Components that it must run.', ['name'], component, [0, 32]).default([]),
    hold: named('MachineHold', 'A person keeps automation off.', {
      reason: name('Why, for people.', 256),
      scope: choice('Disruptive: only what disturbs the node.', ['All', 'Disruptive']).default('Disruptive'),
      until: time('When it ends by itself.').optional(),
    }).optional(),
    retryToken: text("A new value clears the agent's list of bad digests.", { max: 64 }).optional(),
    agentEpoch: int('Raised by a person: a new first certificate for an agent that lost its own.').default(0),
    deletion,
  }),
  {
    rule: "!has(self.__import__) || self.infra.provider == 'ssh'",
    message: 'only provider ssh can import a host',
    fieldPath: '.import',
    reason: 'FieldValueForbidden',
  },
  {
    rule: 'has(self.__import__) == has(oldSelf.__import__)',
    message: 'import cannot be added or removed later; delete the Machine and create it anew',
    fieldPath: '.import',
    reason: 'FieldValueForbidden',
  },
  {
    rule: 'self.agentEpoch >= oldSelf.agentEpoch',
    message: 'agentEpoch can only be raised',
    fieldPath: '.agentEpoch',
  },
);

const COMPONENT_STATES = [
  'Absent',
  'Fetching',
  'Staged',
  'WaitingForGrant',
  'WaitingForDrain',
  'Activating',
  'Probation',
  'Committed',
  'RollingBack',
  'RolledBack',
  'Failed',
  'Blocked',
  'Orphaned',
] as const;

const componentStatus = named('MachineComponentReport', 'What the agent says of one component.', {
  name: name('The component.'),
  desiredRef: text('The version that is wanted.', REF).optional(),
  currentRef: text('The version that is installed.', REF).optional(),
  previousRef: text('The version before.', REF).optional(),
  digest: digest('Digest of what is installed.').optional(),
  state: choice('Where it stands.', COMPONENT_STATES).optional(),
  running: flag('Its process runs.').optional(),
  since: time('Since when it stands there.').optional(),
  corrections: count('Drift that was corrected.'),
  restarts: count('Restarts.'),
  deniedDigests: list(
    'Digests that failed here and are not tried again.',
    digest('A digest.'),
    [0, 4],
  ).optional(),
  error: named('ComponentError', 'What went wrong.', {
    code: text('A word for programs.', { max: 64 }).optional(),
    message: message('What happened, for people.', 1024).optional(),
  }).optional(),
  waiting: waiting(),
});

const drift = named('MachineDrift', 'A difference from what is declared.', {
  component: text('The component.', { max: 63 }).optional(),
  path: text('The path.', { max: 512 }).optional(),
  kind: choice('What differs.', ['Content', 'Mode', 'Missing', 'Unit', 'Process']).optional(),
  action: choice('What the agent did.', ['Corrected', 'Reported', 'GaveUp']).optional(),
  at: time('When it was seen.').optional(),
});

function testResults(sentence: string, max: number): Schema {
  const item = named('TestResult', 'The result of a probe or a suite.', {
    name: name('Its name.'),
    result: choice('Unknown is not a pass.', ['Pass', 'Fail', 'Unknown']).optional(),
    at: time('When it was taken.').optional(),
  });
  return listMap(sentence, ['name'], item, [0, max]).optional();
}

const facts = named('MachineFacts', 'What rules read, written by the agent on change.', {
  bootedAt: time('When it booted.').optional(),
  xidSince: time('How far back xid reaches.').optional(),
  disk: listMap(
    'Disks.',
    ['filesystem'],
    named('DiskFact', 'One file system.', {
      filesystem: name('Its name, as imagefs.', 128),
      usedPercent: percent('Share of the space in use.').optional(),
      inodesUsedPercent: percent('Share of the inodes in use.').optional(),
      risingSince: time('Since when it fills up.').optional(),
      reclaimableBytes: bigInt('What a clean-up would give back.').optional(),
    }),
    [0, 8],
  ).optional(),
  xid: list(
    'GPU errors, newest first.',
    named('XidFact', 'One GPU error.', {
      code: count('Its Xid.'),
      gpu: count('Which GPU.'),
      at: time('When.').optional(),
    }),
    [0, 32],
  ).optional(),
  gpus: named('GpuFacts', 'GPUs.', { allocatable: count('That pods may use.') }).optional(),
  probes: testResults('Probes.', 16),
  suites: testResults('Test suites.', 4),
});

const system = named('MachineSystem', 'The host, as the agent finds it.', {
  os: text('Operating system.', { max: 63 }).optional(),
  osImage: text('Its name and version.').optional(),
  kernel: text('Kernel version.', { max: 128 }).optional(),
  arch: text('Architecture.', { max: 63 }).optional(),
  machineID: text('Its machine id.', { max: 128 }).optional(),
  serial: text('Serial number of the hardware.', { max: 128 }).optional(),
  hardwareClass: text('Class of the hardware.', { max: 128 }).optional(),
  gpuDriver: text('Version of the GPU driver.', { max: 128 }).optional(),
  gpuReadyAt: time('When the GPUs became ready.').optional(),
});

const status = named('MachineStatus', 'What is known of the machine.', {
  ...statusHead(machinePhases.phases),
  waiting: waiting(),
  infra: named('MachineInfraStatus', 'The instance, as the provider sees it.', {
    providerID: text('Its id; never changes.').optional(),
    state: choice('Where it stands.', ['Pending', 'Running', 'Stopped', 'Gone', 'Unknown']).optional(),
    zone: text('Its zone.').optional(),
    addresses: list(
      'Its addresses.',
      named('MachineAddress', 'One address.', {
        type: text('Its type, as InternalIP.', { max: 63 }).optional(),
        address: text('The address.', { max: 253 }).optional(),
      }),
      [0, 8],
    ).optional(),
    createdAt: time('When it was created.').optional(),
  }).optional(),
  node: named('MachineNodeStatus', 'The Node of the same name.', {
    uid: text('Its UID.', { max: 63 }).optional(),
    bootID: text('Its boot id.', { max: 63 }).optional(),
  }).optional(),
  system: system.optional(),
  agent: named('MachineAgent', 'The agent; its heartbeat is a Lease.', {
    observedGeneration: bigInt('The generation that the agent acted on.').optional(),
    version: text('Its version.', { max: 64 }).optional(),
    host: choice('How it acts on the machine.', HOSTS).optional(),
    startedAt: time('When it started.').optional(),
    certificateNotAfter: time('When its certificate ends.').optional(),
  }).optional(),
  components: listMap('Components, as the agent finds them.', ['name'], componentStatus, [0, 32]).optional(),
  drift: list('Differences, newest first.', drift, [0, 8]).optional(),
  facts: facts.optional(),
  faults: listMap(
    'Faults by our own clock.',
    ['type'],
    named('MachineFault', 'One fault.', {
      type: name('Its type.'),
      status: choice('Whether it is there.', ['True', 'False', 'Unknown']).optional(),
      nodeUID: text('UID of the Node that showed it.', { max: 63 }).optional(),
      since: time('Since when.').optional(),
      transitions: count('How often it came and went.'),
      reason: reason().optional(),
    }),
    [0, 8],
  ).optional(),
  drain: named('MachineDrain', 'The drain before a component change or a deletion.', {
    grant: text('Its grant.', { max: 64 }).optional(),
    state: choice('Where it stands.', ['Cordoned', 'Draining', 'Drained']).optional(),
    since: time('Since when.').optional(),
    total: count('Pods in all.'),
    evicted: count('Pods that left.'),
    pending: count('Pods that are left.'),
    blockedBy: list('What holds it up.', name('namespace/name.', 253), [0, 8]).optional(),
  }).optional(),
  preflight: named('MachinePreflight', 'Checks before an import.', {
    at: time('When they ran.').optional(),
    results: listMap(
      'The checks.',
      ['check'],
      named('PreflightResult', 'One check.', {
        check: name('Its name.'),
        result: choice('Its result.', ['Pass', 'Warn', 'Fail']).optional(),
        message: message().optional(),
      }),
      [0, 40],
    ).optional(),
  }).optional(),
  repairs: named('MachineRepairs', 'Repairs; they follow the serial number of the hardware.', {
    total: count('All.'),
    recent: list(
      'The last ones, newest first.',
      named('MachineRepair', 'One repair.', {
        job: text('Its job.', { max: 253 }).optional(),
        risk: choice('Its risk.', RISKS).optional(),
        at: time('When.').optional(),
        outcome: text('How it ended.', { max: 63 }).optional(),
      }),
      [0, 10],
    ).optional(),
  }).optional(),
});

/** The address of a host that was trusted once is part of what was trusted. */
const ADDRESS_IS_PINNED =
  "!has(self.spec.__import__) || self.spec.__import__.address == oldSelf.spec.__import__.address || !has(oldSelf.status) || !oldSelf.status.conditions.exists(c, c.type == 'HostTrusted' && c.status == 'True')";

const PROVIDER_ID_STAYS =
  '!has(oldSelf.status) || !has(oldSelf.status.infra) || !has(oldSelf.status.infra.providerID) || (has(self.status) && has(self.status.infra) && has(self.status.infra.providerID) && self.status.infra.providerID == oldSelf.status.infra.providerID)';

export const machine: Kind = {
  kind: 'Machine',
  plural: 'machines',
  shortName: 'kma',
  lives: 'cluster',
  description: 'One node: how to create or reach it, its labels and taints, and the components it must run.',
  nameMax: 63,
  spec,
  status,
  rules: [
    {
      rule: ADDRESS_IS_PINNED,
      message:
        'the address cannot be changed once the host is trusted; delete the Machine and import the other host',
      fieldPath: '.spec.import.address',
      reason: 'FieldValueForbidden',
    },
    {
      rule: PROVIDER_ID_STAYS,
      message: 'the provider id of a machine never changes; another instance is another Machine',
      fieldPath: '.status.infra.providerID',
      reason: 'FieldValueForbidden',
    },
  ],
  columns: [
    PHASE,
    conditionColumn('Ready'),
    conditionColumn('UpToDate'),
    { name: 'Kubelet', path: '.status.components[?(@.name=="kubelet")].currentRef' },
    { name: 'Zone', path: '.spec.zone' },
    { name: 'Provider', path: '.spec.infra.provider' },
    { name: 'Agent', path: '.status.agent.version' },
    AGE,
    { name: 'Address', path: '.status.infra.addresses[0].address', wide: true },
    { name: 'Provider-ID', path: '.status.infra.providerID', wide: true },
    { name: 'Drift', path: '.status.conditions[?(@.type=="DriftDetected")].status', wide: true },
  ],
  phases: machinePhases,
};
