/** Repair jobs as their controllers report them, one for each thing that a person can meet. */
import type { RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { ago } from '../../../support/builders.ts';

export const JOB = 'node-a17-kernel-hang-7c1f02ab-r1-a1';

const STEP = {
  executor: 'Central',
  risk: 'Pod',
  timeoutSeconds: 30,
  onFailure: 'Fail',
  onTimeout: 'Fail',
} as const;

const SPEC: RemedyOperationJob['spec'] = {
  machine: { name: 'node-a17', uid: '77aa' },
  node: { uid: '5d0e', bootID: '9a41' },
  cause: {
    remedier: 'kernel-hang',
    ruleDigest: 'sha256:ab12',
    commit: '4f2c9e1a77b09d3c55aa',
    case: '7c1f02ab',
    faultClass: 'Kernel',
    evidence: [
      {
        fact: 'condition',
        params: { type: 'FrequentTaskHung' },
        value: { status: 'True', observedSeconds: 141 },
        at: ago(320),
      },
    ],
  },
  rung: { name: 'reboot', index: 1 },
  attempt: 1,
  group: 'reboot',
  risk: 'Node',
  grant: { id: 'g-18841', fence: 90_117, issuedAt: ago(300), notAfter: ago(0) },
  operationID: '7c1f02ab-r1-a1',
  plan: [
    {
      ...STEP,
      id: 's1',
      step: 'CollectDiagnostics@v1',
      executor: 'Agent',
      risk: 'None',
      onFailure: 'Continue',
    },
    { ...STEP, id: 's2', step: 'Cordon@v1' },
    { ...STEP, id: 's3', step: 'Drain@v1', timeoutSeconds: 900, onTimeout: 'RequestApproval' },
    { ...STEP, id: 's4', step: 'Reboot@v1', executor: 'Agent', risk: 'Node' },
  ],
  verify: { holdSeconds: 300, timeoutSeconds: 900, target: 'Node', conditions: {} },
  onVerified: [{ ...STEP, id: 'v1', step: 'Uncordon@v1', risk: 'None' }],
  deadline: '2030-01-01T14:00:00Z',
} as unknown as RemedyOperationJob['spec'];

type Status = NonNullable<RemedyOperationJob['status']>;

const DETECTED = { firstFaultAt: ago(465), detectedAt: ago(320), admittedAt: ago(300) };
const DONE = [
  {
    id: 's1',
    state: 'Failed',
    tries: 1,
    code: 'AgentSilent',
    message: 'no answer in 180 s',
    startedAt: ago(300),
    finishedAt: ago(120),
  },
  { id: 's2', state: 'Succeeded', tries: 1, startedAt: ago(120), finishedAt: ago(119) },
] as const;

const STATUSES = {
  'a new job': undefined,
  'a drain that a budget blocks': {
    phase: 'Waiting',
    waiting: {
      reason: 'PodDisruptionBudget',
      blocker: { kind: 'PodDisruptionBudget', namespace: 'shop', name: 'cart' },
      since: ago(100),
      message: 'shop/cart-0: disruptionsAllowed=0',
    },
    drain: { total: 34, evicted: 30, pending: 4, blockedBy: ['shop/cart-0'] },
    steps: [...DONE, { id: 's3', state: 'Running', tries: 2, startedAt: ago(118) }],
    timeline: DETECTED,
  },
  'a drain that needs an approval': {
    phase: 'Waiting',
    waiting: { reason: 'ApprovalRequired', since: ago(60), message: 'the drain timed out: continue?' },
    steps: [...DONE, { id: 's3', state: 'Failed', tries: 1, startedAt: ago(118), finishedAt: ago(60) }],
    timeline: DETECTED,
  },
  'a renewal that is denied': {
    phase: 'Waiting',
    waiting: { reason: 'GrantDenied', since: ago(30), message: 'BreakerOpen: unhealthy: 25 % of zone a' },
    steps: DONE,
    timeline: DETECTED,
  },
  'a node that is healthy again': {
    phase: 'Succeeded',
    outcome: { class: 'Succeeded', reason: 'Verified', message: 'healthy for 300 s' },
    steps: [
      ...DONE,
      ...['s3', 's4', 'v1'].map((id) => ({
        id,
        state: 'Succeeded',
        tries: 1,
        startedAt: ago(100),
        finishedAt: ago(70),
      })),
    ],
    timeline: { ...DETECTED, executedAt: ago(70), verifiedAt: ago(10), settledAt: ago(8) },
  },
  'a node that stays sick': {
    phase: 'HandedOff',
    outcome: { class: 'HandedOff', reason: 'HandedOff', message: 'queue node-sre' },
    steps: DONE,
    timeline: { ...DETECTED, settledAt: ago(8) },
  },
} as const;

export type JobStory = keyof typeof STATUSES;

export const JOB_STORIES: readonly JobStory[] = Object.keys(STATUSES) as JobStory[];

export function jobStory(story: JobStory, name = JOB, spec: object = {}): RemedyOperationJob {
  const status = STATUSES[story] && { conditions: [], ...STATUSES[story] };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'RemedyOperationJob',
    metadata: { name, uid: name, creationTimestamp: ago(299) },
    spec: { ...SPEC, ...spec },
    ...(status && { status: status as unknown as Status }),
  };
}
