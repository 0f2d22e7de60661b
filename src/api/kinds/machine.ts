/** Machine: one node. How to create or reach it, its labels and taints, and the components it must run. */
import { count, secretRefWithKey } from '../common.ts';
import { HOSTS, PROVIDERS } from '../enums.ts';
import { FINGERPRINT } from '../patterns.ts';
import { machinePhases } from '../phases.ts';
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
  name,
  named,
  rules,
  text,
  time,
} from '../schema.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';
import { status } from './machine-status.ts';

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
