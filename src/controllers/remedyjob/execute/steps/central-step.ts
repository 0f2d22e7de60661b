/** Describes a step that the job controller carries out: it is called again and again until it has ended, also by another process. */
import type {
  JobDrain,
  JobReplacement,
  JobStep,
  JobStepAnswer,
  JobStepPower,
  JobStepStatus,
  NodeRemedier,
  RemedyOperationJob,
} from '../../../../api/generated/types.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { ReconcileContext } from '../../../../kube/controller/reconcile-context.ts';
import type { EvictionAnswers } from '../../../../kube/drain/answers.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import type { EventAnswers } from '../../../../providers/event-answers.ts';
import type { PowerSwitches } from '../../../../providers/power.ts';
import type { JobInput } from '../../observe/observe.ts';
import type { JobChange, RepairWait } from '../../plan/decision.ts';
import type { Renewal } from '../renewal.ts';
import type { ApprovalPort } from './approval.ts';

export interface CentralRun<Input = unknown> {
  readonly observation: JobInput;
  /** The Node of the job. It was checked before that the Node exists. */
  readonly node: KubeObject;
  readonly step: JobStep;
  readonly record: JobStepStatus;
  readonly input: Input;
  /** Renews the grant. Only for steps that ask immediately before a request: that of the others is renewed before they run. */
  readonly renew: () => Promise<Renewal>;
  readonly ports: StepPorts;
  readonly context: ReconcileContext;
}

export interface StepPorts {
  /**
   * The client that acts as kubenode-remedyjob: it lists Pods and PodDisruptionBudgets of a node that is drained, and reads the Node that is
   * switched off.
   */
  readonly client: Pick<Client, 'pages' | 'get'>;
  readonly switches: PowerSwitches;
  readonly eventAnswers: EventAnswers;
  /** Returns what the job is judged by at this moment. */
  readonly lookAgain: () => Promise<JobInput | undefined>;
  /** The answers to evictions, by job; only an optimization. */
  readonly answers: Map<string, EvictionAnswers>;
  readonly approvals: ApprovalPort;
  /** Returns the job that holds this grant. */
  readonly jobOfGrant: (id: string) => RemedyOperationJob | undefined;
  readonly remedier: NodeRemedier | undefined;
}

/** Holds what a step also changes in the status of the job. */
export interface StepChange {
  readonly drain?: JobDrain;
  readonly replacement?: JobReplacement;
  readonly power?: JobStepPower;
  readonly answer?: JobStepAnswer;
  /** A message for people that the record of a running step keeps until its end. */
  readonly note?: string;
  /** The change by a renewal of the grant. */
  readonly renewed?: JobChange;
}

export type CentralResult = StepChange &
  (
    | { readonly state: 'Succeeded'; readonly message: string; readonly bootIDAfter?: string }
    | { readonly state: 'Failed'; readonly code: string; readonly message: string }
    | { readonly state: 'Waiting'; readonly wait: RepairWait; readonly requeueAt: Date }
    | { readonly state: 'Denied'; readonly renewal: Extract<Renewal, { readonly isGranted: false }> }
  );

export function stepSucceeded(message: string): CentralResult {
  return { state: 'Succeeded', message };
}

export function stepFailed(code: string, message: string): CentralResult {
  return { state: 'Failed', code, message };
}

const STEP_POLL_MS = 5000;

export function stepWaits(wait: RepairWait, now: Date, ms = STEP_POLL_MS): CentralResult {
  return { state: 'Waiting', wait, requeueAt: new Date(now.getTime() + ms) };
}
