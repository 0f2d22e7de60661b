/** Machine: a node. How to create or reach its host, its labels and taints, and the components that it runs. */
import { count, secretRefWithKey, secretRefWithoutKey } from '../common.ts';
import { FOLLOWED_PROVIDERS, HOSTS, PROVIDERS } from '../enums.ts';
import { BMC_SYSTEM, BMC_URL, FINGERPRINT, UUID } from '../patterns.ts';
import {
  bigInt,
  type CelRule,
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
import { machinePhases } from '../status/phase-tables.ts';
import { AGE, conditionColumn, type Kind, PHASE } from './kind.ts';
import { status } from './machine-status.ts';

/** Shared with MachineSet, whose template describes Machines. */
export const infra = named('MachineInfra', 'Infrastructure provider of the machine.', {
  provider: immutable(
    'the provider',
    choice('Infrastructure provider.', [...PROVIDERS, ...FOLLOWED_PROVIDERS]),
  ),
  config: foreign(
    'Configuration of the provider, which validates it in the condition InfraConfigValid.',
  ).default({}),
});

export const host = named('MachineHost', 'How the agent manages the host.', {
  type: choice('systemd: a real host. sandbox: a directory and child processes.', HOSTS).default('systemd'),
}).prefault({});

function ownKeys(field: string, key: string): CelRule {
  return {
    rule: `!has(self.${field}) || self.${field}.all(each, !${key}.startsWith('kubenode.dev/'))`,
    message: `${field} that begin with kubenode.dev/ are set by kubenode itself`,
    fieldPath: `.${field}`,
    reason: 'FieldValueForbidden',
  };
}

export const node = rules(
  named('MachineNode', 'Labels, annotations and taints of the Node. Those set by others are never changed.', {
    labels: map('Labels of the Node.', text('Value.', { max: 63 }), 64).optional(),
    annotations: map('Annotations of the Node.', text('Value.', { max: 1024 }), 64).optional(),
    taints: listMap(
      'Taints of the Node.',
      ['key', 'effect'],
      named('Taint', 'A taint of the Node.', {
        key: name('Taint key.', 317),
        value: text('Taint value.', { max: 63 }).optional(),
        effect: choice('Taint effect.', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
      }),
      [0, 32],
    ).default([]),
  }),
  ownKeys('labels', 'each'),
  ownKeys('annotations', 'each'),
  ownKeys('taints', 'each.key'),
).prefault({});

export const deletion = named('MachineDeletion', 'What happens when the Machine is deleted.', {
  drain: choice('How pods are evicted. Respect honors PodDisruptionBudgets.', [
    'Respect',
    'Force',
    'Skip',
  ]).default('Respect'),
  drainTimeoutSeconds: int('Maximum duration of the drain.').default(1800),
  timeoutSeconds: int('Maximum duration of the whole deletion.').default(7200),
  cleanup: choice(
    'What to do with the host. Restore: as it was before the import. Wipe: remove all kubenode files and data. Orphan: do not change it.',
    ['Restore', 'Wipe', 'Orphan'],
  ).default('Restore'),
}).prefault({});

const hostKey = named('HostKey', 'An SSH host key, as `ssh-keygen -l` prints it.', {
  algorithm: name('Key algorithm.', 32),
  fingerprint: text('Key fingerprint.', { max: 50, pattern: FINGERPRINT }),
});

const takeOver = rules(
  named('MachineImport', 'Imports an existing host. Provider ssh only.', {
    address: name('Host name or IP address.', 253),
    port: int('SSH port.', [1, 65_535]).default(22),
    user: name('SSH user.').default('root'),
    credentialsRef: secretRefWithKey(
      { type: 'SshKeyRef', key: 'ssh-privatekey' },
      'ssh',
      'Secret in kubenode-system with an SSH key. Not needed once the agent has its certificate.',
    ),
    hostKeyPolicy: choice(
      'Pinned: accept the keys in hostKeys only. TrustOnFirstUse: accept and remember the first key.',
      ['Pinned', 'TrustOnFirstUse'],
    ).default('Pinned'),
    hostKeys: list('Accepted host keys.', hostKey, [0, 8]).optional(),
    via: named(
      'MachineJumpHost',
      'Jump host, for a host that is not reached directly. It gets the same SSH key.',
      {
        address: name('Host name or IP address.', 253),
        port: int('SSH port.', [1, 65_535]).default(22),
        user: name('SSH user.').default('root'),
        hostKeys: list('Accepted host keys of the jump host. They are always pinned.', hostKey, [1, 8]),
      },
    ).optional(),
    existingNode: choice(
      'What to do if the host already is a Node. Adopt reports differences and restarts nothing. Converge corrects them.',
      ['Reject', 'Adopt', 'Converge'],
    ).default('Reject'),
    dryRun: flag('Whether to run only the preflight checks, without changing the host.').default(false),
    skipChecks: list('Preflight checks to skip.', name('Name of a check.'), [0, 16]).default([]),
  }),
  {
    rule: "self.hostKeyPolicy != 'Pinned' || (has(self.hostKeys) && size(self.hostKeys) > 0)",
    message: 'hostKeyPolicy Pinned needs at least one key in hostKeys (see `ssh-keygen -l`)',
    fieldPath: '.hostKeys',
    reason: 'FieldValueRequired',
  },
);

const bmc = named(
  'MachineBMC',
  'The BMC that switches the power of the host, by Redfish. Provider ssh only.',
  {
    address: text('URL of the BMC, as https://HOST[:PORT].', { max: 253, pattern: BMC_URL }),
    system: text('Id of the system at the BMC. Not needed when the BMC has one system.', {
      max: 253,
      min: 1,
      pattern: BMC_SYSTEM,
    }).optional(),
    credentialsRef: secretRefWithoutKey(
      'BmcCredentialsRef',
      'bmc',
      'Secret in kubenode-system with the keys username and password.',
    ),
    certificateFingerprint: text(
      'SHA-256 fingerprint of the certificate of the BMC, as `kubenode machine power NAME --scan ADDRESS` prints it. No other certificate is accepted.',
      { max: 50, pattern: FINGERPRINT },
    ),
    systemUUID: text(
      'UUID of the system at the BMC. Default: the system UUID that the host reported. A system with another UUID is never switched.',
      { max: 36, pattern: UUID },
    ).optional(),
  },
);

const component = rules(
  named('MachineComponentEntry', 'A component that the machine runs.', {
    name: name('Name of the component, such as kubelet.'),
    componentRef: name('MachineComponent of one version, such as kubelet-1.31.4.', 81),
    digest: digest("Digest of the MachineComponent's spec."),
    state: choice('Absent removes the component from the machine.', ['Present', 'Absent']).default('Present'),
    parameters: map('Resolved values of the parameters.', text('Value.', { max: 1024 }), 32).default({}),
    assignment: named(
      'ComponentAssignment',
      'Origin of the entry. Written by the component set controller only.',
      {
        set: text('MachineComponentSet that assigned the component. Absent in a pin.', {
          max: 63,
        }).optional(),
        revision: name('Revision of the set, as r-<8 hex digits>.', 64),
        batch: count('Batch of the rollout.'),
        retryToken: text(
          'spec.retryToken of the set. A new value clears the list of denied digests of the agent.',
          {
            max: 64,
          },
        ).optional(),
      },
    ).optional(),
    grant: named(
      'ComponentGrant',
      'Permission to activate this entry. Without it the agent stages the version and waits. Written by the component set controller only.',
      {
        id: name('Id of the grant.', 64),
        fence: bigInt('Fence of the grant.'),
        entryDigest: digest('Digest of the entry without assignment and grant.'),
        notAfter: time('End of the permission.'),
      },
    ).optional(),
  }),
  {
    rule: "self.componentRef.startsWith(self.name + '-')",
    message: 'componentRef must be a version of this component: <name>-<version>',
    fieldPath: '.componentRef',
  },
);

const spec = rules(
  named('MachineSpec', 'Desired state of the machine.', {
    infra,
    import: takeOver.optional(),
    bmc: bmc.optional(),
    host,
    zone: text('Failure zone of the machine.').optional(),
    node,
    readinessGates: list(
      'Conditions set by other controllers that must be True before the start-up taint is removed.',
      named('ReadinessGate', 'A condition that another controller sets.', {
        conditionType: name('Type of the condition.'),
      }),
      [0, 8],
    ).default([]),
    minReadySeconds: int(
      'How long the machine must be ready before the start-up taint is removed.',
      [0, 3600],
    ).default(0),
    components: listMap(
      'Components that the machine runs. An entry that a person owns is a pin, which the component set controller does not change.',
      ['name'],
      component,
      [0, 32],
    ).default([]),
    hold: named('MachineHold', 'Keeps automation away from the machine.', {
      reason: name('Why the machine is held.', 256),
      scope: choice('All: no automation. Disruptive: nothing that disturbs pods or the node.', [
        'All',
        'Disruptive',
      ]).default('Disruptive'),
      until: time('When the hold ends. Default: when it is removed.').optional(),
    }).optional(),
    retryToken: text(
      'A new value clears the list of denied digests of the agent, and repeats an import that failed for good.',
      { max: 64 },
    ).optional(),
    agentEpoch: int(
      'Raise it to allow a new first certificate for an agent whose certificate is missing or expired. An imported host gets it over SSH.',
    ).default(0),
    deletion,
  }),
  {
    rule: "!has(self.__import__) || self.infra.provider == 'ssh'",
    message: 'only provider ssh can import a host',
    fieldPath: '.import',
    reason: 'FieldValueForbidden',
  },
  {
    rule: "!has(self.bmc) || self.infra.provider == 'ssh'",
    message: 'only machines of provider ssh have a BMC; the others are switched by their provider',
    fieldPath: '.bmc',
    reason: 'FieldValueForbidden',
  },
  {
    rule: 'has(self.__import__) == has(oldSelf.__import__)',
    message: 'import cannot be added or removed later; delete the Machine and create it again',
    fieldPath: '.import',
    reason: 'FieldValueForbidden',
  },
  {
    rule: 'self.agentEpoch >= oldSelf.agentEpoch',
    message: 'agentEpoch can only be raised',
    fieldPath: '.agentEpoch',
  },
);

/** Once a host is trusted its address cannot change, because the trust is in that host. */
const ADDRESS_IS_PINNED =
  "!has(self.spec.__import__) || self.spec.__import__.address == oldSelf.spec.__import__.address || !has(oldSelf.status) || !oldSelf.status.conditions.exists(c, c.type == 'HostTrusted' && c.status == 'True')";

const PROVIDER_ID_STAYS =
  '!has(oldSelf.status) || !has(oldSelf.status.infra) || !has(oldSelf.status.infra.providerID) || (has(self.status) && has(self.status.infra) && has(self.status.infra.providerID) && self.status.infra.providerID == oldSelf.status.infra.providerID)';

/** The first key is trusted once: a host that shows another one later is another host, or another server in its place. */
const FIRST_KEY_STAYS =
  '!has(oldSelf.status) || !has(oldSelf.status.__import__) || !has(oldSelf.status.__import__.hostKey) || (has(self.status) && has(self.status.__import__) && has(self.status.__import__.hostKey) && self.status.__import__.hostKey == oldSelf.status.__import__.hostKey)';

export const machine: Kind = {
  kind: 'Machine',
  plural: 'machines',
  shortName: 'kma',
  lives: 'cluster',
  description:
    'A node: how to create or reach its host, its labels and taints, and the components that it runs.',
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
      message: 'the provider ID cannot be changed; create another Machine for another instance',
      fieldPath: '.status.infra.providerID',
      reason: 'FieldValueForbidden',
    },
    {
      rule: FIRST_KEY_STAYS,
      message:
        'the host key of the first connection cannot be changed; delete the Machine and import the host again',
      fieldPath: '.status.import.hostKey',
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
