/** The status of a Machine: the agent's part, and that of the controllers. */
import { count, statusHead, waiting } from '../common.ts';
import { HOSTS, RISKS } from '../enums.ts';
import { machinePhases } from '../phases.ts';
import {
  bigInt,
  choice,
  digest,
  flag,
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

const componentStatus = named('MachineComponentReport', 'What the agent says of one component.', {
  name: name('The component.'),
  desiredRef: text('The version that is wanted.', REF).optional(),
  currentRef: text('The version that is installed.', REF).optional(),
  previousRef: text('The version before.', REF).optional(),
  digest: digest('Digest of what is installed.').optional(),
  state: choice('Where it stands.', COMPONENT_STATES).optional(),
  running: flag('Its process runs.').optional(),
  ready: flag('Its probes pass. Rules read it as `ready` of the fact component.').optional(),
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

export const status = named('MachineStatus', 'What is known of the machine.', {
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
