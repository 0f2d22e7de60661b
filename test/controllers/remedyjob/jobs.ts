/** Repair jobs as their controller plans them: one that reboots, valid by default; a test overrides what it is about. */
import type {
  AgentStep,
  JobStep,
  JobStepStatus,
  Machine,
  RemedyOperationJob,
  RemedyOperationJobSpec,
  RemedyOperationJobStatus,
} from '../../../src/api/generated/types.ts';
import { type Step, stepEntry, stepReference } from '../../../src/api/steps/steps.ts';
import type { JobInput } from '../../../src/controllers/remedyjob/observe/observe.ts';
import type { JobChange, JobDecision } from '../../../src/controllers/remedyjob/plan/decision.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject, Metadata } from '../../../src/kube/objects/object.ts';
import { condition, machine, NOW, node } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';

export const GRANT = { id: 'g-7-1', fence: 7 };
export const NODE_UID = 'node-1';
export const BOOT = 'boot-1';

export function later(seconds: number): string {
  return new Date(NOW.getTime() + seconds * 1000).toISOString();
}

export function jobStep(id: string, step: Step, fields: Partial<JobStep> = {}): JobStep {
  const { risk, executor } = stepEntry(step);
  return {
    id,
    step: stepReference(step),
    executor,
    risk,
    timeoutSeconds: 300,
    onFailure: 'Fail',
    onTimeout: 'Fail',
    ...fields,
  };
}

export const REBOOT_PLAN: readonly JobStep[] = [
  jobStep('s1', 'CollectDiagnostics', { onFailure: 'Continue' }),
  jobStep('s2', 'Cordon'),
  jobStep('s3', 'Drain'),
  jobStep('s4', 'Reboot'),
  jobStep('s5', 'WaitForBoot'),
];

export const HEALTHY = {
  all: [{ fact: 'condition', params: { type: 'Ready' }, path: '$.status', operator: 'equal', value: 'True' }],
};

export function jobSpec(fields: Partial<RemedyOperationJobSpec> = {}): RemedyOperationJobSpec {
  return {
    machine: { name: 'm', uid: 'uid-m' },
    node: { uid: NODE_UID, bootID: BOOT },
    cause: {
      remedier: 'kernel-hang',
      ruleDigest: digestOf(remedier().spec),
      commit: '4f2c9e1a77b0',
      case: '7c1f02ab',
      faultClass: 'Kernel',
      evidence: [],
    },
    rung: { name: 'soft', index: 1 },
    attempt: 1,
    group: 'reboot',
    risk: 'Node',
    grant: { ...GRANT, issuedAt: later(0), notAfter: later(300) },
    operationID: '7c1f02ab-r1-a1',
    plan: REBOOT_PLAN,
    verify: { holdSeconds: 60, timeoutSeconds: 600, target: 'Node', conditions: HEALTHY },
    onVerified: [jobStep('v1', 'Uncordon')],
    deadline: later(7200),
    settle: { cleared: 'Undo', superseded: 'Undo', aborted: 'KeepCordoned', holdSeconds: 3600 },
    ...fields,
  } as unknown as RemedyOperationJobSpec;
}

export interface JobFields {
  readonly metadata?: Partial<Metadata>;
  readonly spec?: Partial<RemedyOperationJobSpec>;
  readonly status?: Partial<RemedyOperationJobStatus>;
}

export function repairJob({ metadata, spec, status }: JobFields = {}): RemedyOperationJob {
  const name = 'm-kernel-hang-7c1f02ab-r1-a1';
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'RemedyOperationJob',
    metadata: { uid: 'uid-job', generation: 1, finalizers: ['kubenode.dev/settle'], ...metadata, name },
    spec: jobSpec(spec),
    status: { conditions: [], ...status },
  };
}

/** Records of these steps, in this form: `s1 Succeeded`. */
export function records(text: string, fields: Partial<JobStepStatus> = {}): readonly JobStepStatus[] {
  return text.split(',').map((each) => {
    const [id = '', state = ''] = each.trim().split(' ');
    return { id, state: state as JobStepStatus['state'], tries: 1, startedAt: later(0), ...fields };
  });
}

export function agentAnswer(
  id: string,
  state: AgentStep['state'],
  fields: Partial<AgentStep> = {},
): { readonly steps: readonly AgentStep[] } {
  return { steps: [{ id, try: 1, fence: GRANT.fence, state, ...fields }] };
}

/** A Node in its boot, with these changes. */
export function jobNode(
  changes: {
    readonly bootID?: string;
    readonly uid?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly spec?: object;
  } = {},
): KubeObject {
  const { bootID = BOOT, uid = NODE_UID, annotations = {}, spec = {} } = changes;
  const ready = node('m', 'True', { uid, annotations });
  const { conditions } = ready['status'] as { conditions: unknown };
  return { ...ready, spec, status: { conditions, nodeInfo: { bootID } } };
}

export const CORDONED = {
  annotations: { 'kubenode.dev/cordoned-by': GRANT.id },
  spec: { unschedulable: true },
};

export function jobMachine(status: Partial<NonNullable<Machine['status']>> = {}): Machine {
  return machine('m', {
    metadata: { uid: 'uid-m' },
    status: { conditions: [condition('Ready', 'True')], ...status },
  });
}

export function observation(fields: Partial<JobInput> = {}): JobInput {
  return {
    job: repairJob(),
    machine: jobMachine(),
    node: jobNode(),
    rule: 'Match',
    presentFault: { outcome: 'Match', clearSeconds: 600 },
    verified: 'Unknown',
    now: NOW,
    ...fields,
  };
}

/** A decision in one line: what is done, and what it changes. */
export function explained(decision: JobDecision | undefined): string {
  if (!decision) return 'undefined';
  const { because } = decision;
  if (decision.type === 'RunStep' || decision.type === 'ReleaseStep' || decision.type === 'AskApproval') {
    return `${decision.type} ${decision.record.id} try ${decision.record.tries}: ${because}`;
  }
  const change = 'change' in decision ? explainedChange(decision.change) : [];
  return [decision.type, ...change].join(' ').concat(`: ${because}`);
}

function explainedChange({ step, outcome, release, wait, timeline = {} }: JobChange): readonly string[] {
  const code = step?.code === undefined ? '' : ` ${step.code}`;
  return [
    ...(step ? [`${step.id}=${step.state}${code}`] : []),
    ...(outcome ? [`${outcome.class}/${outcome.reason}`] : []),
    ...(release === null ? ['withdraw'] : []),
    ...(wait ? [`(${wait.reason})`] : []),
    ...Object.keys(timeline),
  ];
}
