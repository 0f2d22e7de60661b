/** A component set at the moments of a rollout, with the status that its controller writes then. */
import type { MachineComponentSet } from '../../../../src/api/generated/types.ts';
import { componentSet } from '../../../controllers/componentset/component-set.ts';
import { ago, condition } from '../../../support/builders.ts';

type Status = NonNullable<MachineComponentSet['status']>;

const COUNTS = { selected: 16, updated: 3, inProgress: 2 };
const BATCH = { index: 1, of: 3, size: 5, updated: 3, failed: 0, startedAt: ago(240) };

function story(
  status: Partial<Status>,
  spec: Partial<Pick<MachineComponentSet['spec'], 'paused' | 'dryRun'>> = {},
): MachineComponentSet {
  const components = [
    { name: 'kubelet', componentRef: 'kubelet-1.31.4', state: 'Present', parameters: {} },
    { name: 'node-exporter', componentRef: 'node-exporter-1.8.2', state: 'Present', parameters: {} },
  ] as const;
  const history = [
    {
      revision: 'r-00000001',
      components: ['kubelet-1.31.3', 'node-exporter-1.8.2'],
      result: 'Completed',
    },
  ] as const;
  return componentSet('general-nodes', {
    metadata: { generation: 2 },
    spec: { components, ...spec },
    status: {
      observedGeneration: 2,
      currentRevision: 'r-00000001',
      updateRevision: 'r-5d41402a',
      history,
      counts: COUNTS,
      batch: BATCH,
      conditions: [],
      ...status,
    },
  });
}

const progressing = condition('Progressing', 'True', { reason: 'BatchFull', message: 'batch 2 is full' });

export const STORIES = {
  'a batch in work': story({ phase: 'Rolling', conditions: [progressing] }),
  'a soak': story({
    phase: 'Soaking',
    conditions: [condition('Progressing', 'True', { reason: 'Soaking' })],
    counts: { selected: 16, updated: 6 },
    batch: { ...BATCH, updated: 5, soakUntil: ago(-90) },
    checks: [{ name: 'health', result: 'Pass' }, { name: 'latency' }],
    waiting: { reason: 'Soaking', since: ago(30), message: `batch 2 soaks until ${ago(-90)}` },
  }),
  'an approval': story({
    phase: 'Waiting',
    counts: { selected: 16, updated: 1 },
    batch: { index: 0, of: 3, size: 1, updated: 1, startedAt: ago(700) },
    waiting: {
      reason: 'ApprovalRequired',
      since: ago(400),
      message: 'batch 1 of kubelet 1.31.4, node-exporter 1.8.2 waits for approval: kubenode rollout approve',
    },
  }),
  'a pause': story(
    {
      phase: 'Paused',
      waiting: { reason: 'Paused', since: ago(60), message: 'spec.paused is true' },
    },
    { paused: true },
  ),
  'a denied grant': story({
    phase: 'Waiting',
    counts: { selected: 16, updated: 3, blocked: 1 },
    waiting: {
      reason: 'GrantDenied',
      since: ago(125),
      blocker: { kind: 'DefenderPolicy', name: 'fleet-default' },
      message: 'm-04: ConcurrencyZone: zone b: 2 of 2 machines are out of service, allowed by fleet-default',
    },
  }),
  'a spent failure budget': story({
    phase: 'Stalled',
    counts: { selected: 16, updated: 3, failed: 2 },
    conditions: [
      condition('Stalled', 'True', {
        reason: 'FailureBudgetSpent',
        message: 'machines failed: 2, allowed: 0. m-04: kubelet: probe healthz failed 3 times',
      }),
    ],
    waiting: {
      reason: 'FailureBudgetSpent',
      since: ago(20),
      blocker: { kind: 'Machine', name: 'm-04' },
      message: 'machines failed: 2, allowed: 0. m-04: kubelet: probe healthz failed 3 times',
    },
    failedMachines: [
      {
        name: 'm-04',
        component: 'kubelet',
        code: 'ProbeFailed',
        message: 'probe healthz failed 3 times: connection refused',
        since: ago(45),
      },
      {
        name: 'rack7-row3-slot12-node-with-a-long-name.eu-central-1',
        component: 'kubelet',
        code: 'ExitCode',
        message: 'kubelet exited with 1: unknown flag --container-runtime',
        since: ago(25),
      },
    ],
  }),
  'a rollback in work': story({
    phase: 'RollingBack',
    conditions: [
      condition('Progressing', 'True', {
        reason: 'RollingBack',
        message: 'back to kubelet 1.31.3, node-exporter 1.8.2: 2 to go, 1 in work',
      }),
    ],
    counts: { selected: 16, updated: 0, failed: 1, rolledBack: 2 },
  }),
  'a rollback that ended': story({
    phase: 'Waiting',
    conditions: [
      condition('Ready', 'False', {
        reason: 'RolledBack',
        message: 'kubelet 1.31.4, node-exporter 1.8.2 was rolled back',
      }),
    ],
    counts: { selected: 16, updated: 0, rolledBack: 5 },
    waiting: {
      reason: 'RolledBack',
      since: ago(3600),
      message:
        'kubelet 1.31.4, node-exporter 1.8.2 was rolled back. Change the set, or give spec.retryToken a new value',
    },
  }),
  'its end': story({
    phase: 'Completed',
    conditions: [condition('UpToDate', 'True', { observedGeneration: 2 })],
    currentRevision: 'r-5d41402a',
    counts: { selected: 16, updated: 16, ready: 16 },
    history: [
      {
        revision: 'r-5d41402a',
        components: ['kubelet-1.31.4', 'node-exporter-1.8.2'],
        result: 'Completed',
      },
    ],
  }),
  'machines that are behind since its end': story({
    phase: 'Completed',
    conditions: [
      condition('Progressing', 'True', {
        reason: 'AllDone',
        message: 'the revision completed',
        observedGeneration: 2,
      }),
      condition('UpToDate', 'False', {
        reason: 'MachinesBehind',
        message: '0 of 3 machines run kubelet 1.31.4; m-01: the agent is silent; also not: m-02, m-03',
        observedGeneration: 2,
      }),
    ],
    currentRevision: 'r-5d41402a',
    counts: { selected: 3, updated: 0, ready: 0 },
    history: [
      {
        revision: 'r-5d41402a',
        components: ['kubelet-1.31.4', 'node-exporter-1.8.2'],
        result: 'Completed',
        finishedAt: ago(7200),
      },
    ],
  }),
  'a set without machines': story({
    phase: 'Completed',
    conditions: [
      condition('Progressing', 'True', {
        reason: 'AllDone',
        message: 'no machine is selected for kubelet 1.31.4, node-exporter 1.8.2',
        observedGeneration: 2,
      }),
      condition('UpToDate', 'True', { reason: 'NoMachines', observedGeneration: 2 }),
    ],
    counts: { selected: 0, updated: 0 },
  }),
  'the soak of its last batch': story({
    phase: 'Soaking',
    conditions: [condition('UpToDate', 'True', { observedGeneration: 2 })],
    counts: { selected: 16, updated: 16 },
    batch: { ...BATCH, index: 2, updated: 5, soakUntil: ago(-9) },
  }),
  'a rollback that stalls': story({
    phase: 'Stalled',
    conditions: [
      condition('Stalled', 'True', { reason: 'ProgressDeadlineExceeded', message: 'no progress' }),
      condition('Progressing', 'False', { reason: 'RollingBack' }),
    ],
  }),
  'an end of the spec before': story({
    observedGeneration: 1,
    phase: 'Completed',
    conditions: [condition('UpToDate', 'True', { observedGeneration: 1 })],
  }),
  'a conflict': story({
    phase: 'Conflict',
    conditions: [
      condition('Conflict', 'True', {
        reason: 'SetConflict',
        message: 'sets general-nodes and other both select machine m-01 and name component kubelet',
      }),
    ],
  }),
  'a conflict beside work': story({
    phase: 'Conflict',
    conditions: [condition('Conflict', 'True', { reason: 'SetConflict', message: 'sets' }), progressing],
  }),
  'a dry run': story(
    {
      phase: 'Waiting',
      batch: {},
      counts: { selected: 16, updated: 0 },
      plan: { batches: [1, 5, 10], class: 'Drain', grants: 16, drains: 16 },
    },
    { dryRun: true },
  ),
  'no status': componentSet('general-nodes', {
    spec: {
      components: [{ name: 'kubelet', componentRef: 'kubelet-1.31.4', state: 'Present', parameters: {} }],
    },
  }),
} satisfies Record<string, MachineComponentSet>;

export type Story = keyof typeof STORIES;
