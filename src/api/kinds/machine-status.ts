/** The status of a Machine: the part of the agent, and the part of the controllers. */
import { count, statusHead, waiting } from '../common.ts';
import { FAULT_CLASSES, HOSTS, POWER_SIGNS, RISKS } from '../enums.ts';
import { FINGERPRINT } from '../patterns.ts';
import {
  bigInt,
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
  reason,
  type Schema,
  text,
  time,
} from '../schema.ts';
import { machinePhases } from '../status/phase-tables.ts';
import { authoritiesSchema } from './machine-authorities.ts';
import { peersSchema, probeRequestsSchema, silenceSchema } from './machine-peers.ts';

const REF = { max: 81 } as const;

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

const componentStatus = named('MachineComponentReport', 'State of one component, reported by the agent.', {
  name: name('Name of the component.'),
  desiredRef: text('MachineComponent that is assigned.', REF).optional(),
  currentRef: text('MachineComponent that is installed.', REF).optional(),
  previousRef: text('MachineComponent that was installed before.', REF).optional(),
  digest: digest('Digest of the installed version.').optional(),
  state: choice('State of the component.', COMPONENT_STATES).optional(),
  running: flag('Whether its process runs.').optional(),
  ready: flag('Whether its probes pass. Rules read it as field `ready` of the fact `component`.').optional(),
  since: time('When the state began.').optional(),
  corrections: count('Number of corrected differences.'),
  restarts: count('Number of restarts.'),
  deniedDigests: list(
    'Digests that failed on this machine and are not tried again.',
    digest('A digest.'),
    [0, 4],
  ).optional(),
  error: named('ComponentError', 'The last error.', {
    code: text('Error code for programs.', { max: 64 }).optional(),
    message: message('Explanation for people.', 1024).optional(),
  }).optional(),
  waiting: waiting(),
});

const drift = named('MachineDrift', 'A difference between desired and observed state.', {
  component: text('Name of the component.', { max: 63 }).optional(),
  path: text('Path of the file.', { max: 512 }).optional(),
  kind: choice('What differs. Run: a unit that does not run, or that runs and must not.', [
    'Content',
    'Mode',
    'Missing',
    'Unit',
    'Run',
    'Process',
  ]).optional(),
  action: choice('Action of the agent. Waiting: it is corrected again later.', [
    'Corrected',
    'Waiting',
    'Reported',
    'GaveUp',
  ]).optional(),
  at: time('When it was observed.').optional(),
});

function testResults(sentence: string, max: number): Schema {
  const item = named('TestResult', 'Result of a probe or a test suite.', {
    name: name('Name.'),
    result: choice('The result. Unknown does not count as Pass.', ['Pass', 'Fail', 'Unknown']).optional(),
    at: time('When the test ran.').optional(),
  });
  return listMap(sentence, ['name'], item, [0, max]).optional();
}

const facts = named('MachineFacts', 'Facts that rules read. Written by the agent when they change.', {
  bootedAt: time('When the host booted.').optional(),
  detectorConfig: digest(
    'Digest of the files of the problem detector and of the programs that they name. Missing while it has none.',
  ).optional(),
  xidSince: time('Start of the period that `xid` covers for each code.').optional(),
  xidCutCodes: list(
    'Xid codes of which errors before `xidSince` are left out of `xid`.',
    count('Xid code.'),
    [1, 32],
  ).optional(),
  xidOthersSince: time(
    'Start of the period that `xid` covers for the codes that are not in `xidCutCodes`.',
  ).optional(),
  disk: listMap(
    'Filesystems.',
    ['filesystem'],
    named('DiskFact', 'A filesystem.', {
      filesystem: name('Name of the filesystem, such as imagefs.', 128),
      usedPercent: percent('Used space in percent.').optional(),
      inodesUsedPercent: percent('Used inodes in percent.').optional(),
      risingSince: time('When the used space began to rise. Missing while it does not rise.').optional(),
      reclaimableBytes: bigInt('Bytes that a cleanup would free.').optional(),
    }),
    [0, 8],
  ).optional(),
  xid: list(
    'GPU errors, newest first: the last ones of each code.',
    named('XidFact', 'A GPU error.', {
      code: count('Xid code.'),
      gpu: count('Index of the GPU.'),
      at: time('When it occurred.').optional(),
      reset: flag('Whether the step ResetGPU has reset the GPU since.').optional(),
    }),
    [0, 32],
  ).optional(),
  gpus: named('GpuFacts', 'GPUs.', { allocatable: count('Number of GPUs that pods may use.') }).optional(),
  probes: testResults('Results of probes. The time is that of the first test with this result.', 16),
  suites: testResults('Results of test suites.', 4),
});

const system = named('MachineSystem', 'Properties of the host, reported by the agent.', {
  os: text('Operating system.', { max: 63 }).optional(),
  osImage: text('Name and version of the operating system.').optional(),
  kernel: text('Kernel version.', { max: 128 }).optional(),
  arch: text('CPU architecture.', { max: 63 }).optional(),
  machineID: text('Machine id of the host.', { max: 128 }).optional(),
  serial: text('Serial number of the hardware.', { max: 128 }).optional(),
  hardwareClass: text('Class of the hardware.', { max: 128 }).optional(),
  gpuDriver: text('Version of the GPU driver.', { max: 128 }).optional(),
  gpuReadyAt: time('When the GPUs became ready.').optional(),
});

export const status = named('MachineStatus', 'Observed state of the machine.', {
  ...statusHead(machinePhases.phases),
  waiting: waiting(),
  infra: named('MachineInfraStatus', 'The instance at the provider.', {
    providerID: text('Provider id of the instance. Never changes.').optional(),
    state: choice('State of the instance.', ['Pending', 'Running', 'Stopped', 'Gone', 'Unknown']).optional(),
    zone: text('Zone of the instance.').optional(),
    addresses: list(
      'Addresses of the instance.',
      named('MachineAddress', 'An address.', {
        type: text('Type of the address, such as InternalIP.', { max: 63 }).optional(),
        address: text('The address.', { max: 253 }).optional(),
      }),
      [0, 8],
    ).optional(),
    createdAt: time('When the instance was created.').optional(),
  }).optional(),
  power: named(
    'MachinePower',
    'The power of a host of provider ssh, as its BMC told. Only while the agent and the kubelet are silent.',
    {
      state: choice('Power of the host. Unknown: the BMC did not tell.', POWER_SIGNS),
      since: time('When the BMC first told so.'),
      message: message('Why the power is not known.', 512).optional(),
    },
  ).optional(),
  silence: silenceSchema.optional(),
  probeRequests: probeRequestsSchema.optional(),
  node: named('MachineNodeStatus', 'The Node of the same name.', {
    uid: text('UID of the Node.', { max: 63 }).optional(),
    bootID: text('Boot id that the Node reports.', { max: 63 }).optional(),
    establishedAt: time(
      'When the machine was first in service. Stays when its Node is deleted, or registers again.',
    ).optional(),
    cordon: named('MachineNodeCordon', 'The cordon of the Node. Missing while pods may be scheduled to it.', {
      grant: text('Id of the grant for which kubenode cordoned it. Missing: a person or another tool did.', {
        max: 64,
      }).optional(),
      since: time('When the cordon began, as far as the Node tells; otherwise when it was observed first.'),
    }).optional(),
  }).optional(),
  system: system.optional(),
  agent: named('MachineAgent', 'The agent of the machine. Its heartbeat is a Lease in kubenode-agents.', {
    observedGeneration: bigInt(
      'Generation of the Machine that the agent last acted on. After a change that only takes grants away, it follows with the next report.',
    ).optional(),
    entriesDigest: digest(
      'Digest of spec.components without grants, with spec.retryToken, that the agent last acted on.',
    ).optional(),
    version: text('Version of the agent.', { max: 64 }).optional(),
    host: choice('How the agent manages the host.', HOSTS).optional(),
    startedAt: time('When the agent started.').optional(),
    certificateNotAfter: time('When the certificate of the agent expires.').optional(),
    authorities: authoritiesSchema.optional(),
    permits: named(
      'MachinePermits',
      'What the host permits to repairs, by its file /etc/kubenode/jobs.json. Missing while the agent cannot read the file.',
      {
        services: list('Services that RestartService may restart.', name('Name of a service.'), [0, 64]),
        profiles: list('Profiles that CollectDiagnostics may collect.', name('Name of a profile.'), [0, 32]),
      },
    ).optional(),
  }).optional(),
  components: listMap(
    'State of each component, reported by the agent.',
    ['name'],
    componentStatus,
    [0, 32],
  ).optional(),
  drift: list('Differences between desired and observed state, newest first.', drift, [0, 8]).optional(),
  facts: facts.optional(),
  peers: peersSchema.optional(),
  faults: listMap(
    'Faults of the node, timed by the clock of the controller.',
    ['type'],
    named('MachineFault', 'A fault.', {
      type: name('Condition type of the fault.'),
      status: choice('Whether the fault is present.', ['True', 'False', 'Unknown']).optional(),
      nodeUID: text('UID of the Node that has the fault.', { max: 63 }).optional(),
      since: time('When the status began.').optional(),
      transitions: count('Number of status changes.'),
      reason: reason().optional(),
    }),
    [0, 8],
  ).optional(),
  remedyWaits: listMap(
    'Rules that found a fault or know too little, and why none of them begins a repair.',
    ['rule'],
    named('MachineRemedyWait', 'Why a rule does not act on the machine.', {
      rule: name('Name of the NodeRemedier.'),
      faultClass: choice('Class of the fault that the rule finds.', FAULT_CLASSES).optional(),
      reason: reason(),
      since: time('When the wait began.'),
      message: message('One sentence for people.', 512).optional(),
    }),
    [0, 16],
  ).optional(),
  drain: named('MachineDrain', 'The drain before a component change or a deletion.', {
    grant: text('Id of the grant.', { max: 64 }).optional(),
    state: choice('State of the drain.', ['Cordoned', 'Draining', 'Drained']).optional(),
    since: time('When the status began.').optional(),
    total: count('Number of pods to evict.'),
    evicted: count('Number of evicted pods.'),
    pending: count('Number of remaining pods.'),
    blockedBy: list(
      'First objects that block evictions.',
      name('Object as namespace/name.', 253),
      [0, 8],
    ).optional(),
  }).optional(),
  replacement: named(
    'MachineReplacement',
    'Asks the MachineSet to replace the machine. Written by a repair job, and removed when the machine is healthy again before its deletion.',
    {
      job: text('Name of the job.', { max: 253 }),
      grant: text('Id of the grant of the job, which covers the deletion.', { max: 64 }),
      fence: bigInt('Fence of the grant.'),
      replacementFirst: flag('Whether the replacement is available before the machine is deleted.'),
      wasReady: flag('Whether the machine was Ready then. One that was not, and is now, is not replaced.'),
      since: time('When the job asked for it.'),
      keepFailed: named('MachineKeepRequest', 'Asks to keep the instance for an analysis.', {
        holdSeconds: int('How long it is kept once the machine is drained.', [60, 2_592_000]),
        max: int('How many machines of the MachineSet are kept at a time.', [1, 20]),
      }).optional(),
    },
  ).optional(),
  kept: named(
    'MachineKept',
    'Present when the machine was drained for its deletion, and its instance is kept for an analysis.',
    {
      job: text('Name of the job that replaced the machine.', { max: 253 }),
      since: time('When the keeping began.'),
      until: time('When the instance is deleted.'),
      max: int('How many machines of the MachineSet are kept at a time.', [1, 20]),
    },
  ).optional(),
  import: named('MachineImportStatus', 'Findings of the import of the host.', {
    hostKey: named('FirstHostKey', 'The key of the first connection, with hostKeyPolicy TrustOnFirstUse.', {
      algorithm: name('Key algorithm.', 32),
      fingerprint: text('Key fingerprint.', { max: 50, pattern: FINGERPRINT }),
    }).optional(),
    machineID: text('Machine id of the host, by its preflight.', { max: 128 }).optional(),
    systemUUID: text('UUID of the hardware, by its preflight.', { max: 128 }).optional(),
    agentEpoch: int('Value of spec.agentEpoch for which the host got a certificate over SSH.').optional(),
    failedAttempt: text(
      'The attempt that failed for good. Another spec.import, spec.agentEpoch or spec.retryToken is another attempt.',
      { max: 16 },
    ).optional(),
  }).optional(),
  preflight: named('MachinePreflight', 'Result of the preflight checks.', {
    at: time('When the checks ran.').optional(),
    results: listMap(
      'Results of the checks.',
      ['check'],
      named('PreflightResult', 'Result of one check.', {
        check: name('Name of the check.'),
        result: choice('Result of the check. Unknown: the host did not tell.', [
          'Pass',
          'Warn',
          'Fail',
          'Unknown',
        ]).optional(),
        message: message().optional(),
      }),
      [0, 40],
    ).optional(),
  }).optional(),
  repairs: named(
    'MachineRepairs',
    'Repairs of the hardware. They are kept when a machine is replaced in place.',
    {
      total: count('Total number of repairs.'),
      recent: list(
        'Last repairs, newest first.',
        named('MachineRepair', 'A repair.', {
          job: text('Name of the job.', { max: 253 }).optional(),
          risk: choice('Risk of the job.', RISKS).optional(),
          at: time('When it occurred.').optional(),
          outcome: text('Outcome of the job.', { max: 63 }).optional(),
          changed: flag(
            'False: each of its steps with a risk failed, so nothing has changed. The next rung of its case does not wait for it.',
          ).optional(),
        }),
        [0, 10],
      ).optional(),
    },
  ).optional(),
});
