/** Describes what ends the wait of a job: a command, or time, with when. Pure. */
import type { JobStepStatus, RemedyOperationJob, Wait } from '../../api/generated/types.ts';
import type { RepairWaitReason } from '../../api/status/repair-waits.ts';
import { currentStep, isOpenRecord, stepRecord } from '../../api/status/step-records.ts';
import { ownValue } from '../../kube/objects/json.ts';
import { unblockHint } from '../fleet/unblock.ts';

/** The hint for each reason, in which `MACHINE`, `RULE` and `WHEN` are replaced. */
const JOB_WAITS: Readonly<Record<RepairWaitReason, string>> = {
  Agent: 'no action required while its agent answers: kubenode machine show MACHINE',
  ApprovalRequired:
    'kubenode defender approve MACHINE --reason TEXT, or kubenode defender refuse MACHINE --reason TEXT',
  Boot: 'no action required while the machine boots',
  Condition: 'no action required until the Node reports it: kubectl describe node MACHINE',
  ConditionHolding: 'no action required: the next step begins when the condition has held for that long',
  Draining: 'no action required: its pods are being evicted',
  Evicting: 'no action required: its pods are being evicted',
  FactsUnknown:
    'kubenode rules explain MACHINE --rule RULE lists which facts are unknown and why; the job fails at WHEN if they still are',
  FaultClearing: 'no action required: the case is closed when the fault has stayed away for that long',
  FaultPresent:
    'no action required: the job fails at WHEN if the conditions of its verification do not hold by then',
  GrantDenied: 'kubenode why machine MACHINE lists what is in the way; the job asks again by itself',
  LeadTime: 'no action required: the next step begins at WHEN',
  MachineBusy:
    'no action required once the job that cordoned the node has ended: kubenode remedy list --machine MACHINE',
  NeedsPerson:
    'repair the machine: kubenode rules explain MACHINE --rule RULE shows the fault. The case is closed when it stays away',
  OutsideWindow: 'no action required: it continues when a window opens: kubenode why machine MACHINE',
  PodBlocked: 'no action required once the pod may be evicted: check the pod that is named',
  PodDisruptionBudget: 'no action required once its pods may be evicted: check the budget that is named',
  Power: 'no action required while the power switch is read: kubenode remedy show lists what it answered',
  Releasing:
    'no action required while Kubernetes deletes its pods and detaches its volumes: kubectl get volumeattachments lists them',
  Replacing:
    'no action required while its set replaces it: kubectl get machinesets.kubenode.dev shows what it waits for',
  Stopping: 'no action required: the job ends when its agent has ended the step',
  VerificationHolding: 'no action required: the repair is verified at WHEN if the conditions hold until then',
};

/** Tells whether the job waits until a person answers. */
export function isApprovalWait({ reason }: Wait): boolean {
  return reason === ('ApprovalRequired' satisfies RepairWaitReason);
}

/** Tells whether the job has ended while its machine still needs a person. */
export function isOpenCase({ reason }: Wait): boolean {
  const reasons: readonly RepairWaitReason[] = ['NeedsPerson', 'FaultClearing'];
  return reasons.some((each) => each === reason);
}

export function jobUnblock(job: RemedyOperationJob, waiting: Wait): string {
  const { machine, cause } = job.spec;
  const own = ownValue(JOB_WAITS, waiting.reason);
  if (own === undefined) return unblockHint(waiting);
  const hint = own
    .replaceAll('MACHINE', machine.name)
    .replaceAll('RULE', cause.remedier)
    .replaceAll('WHEN', endOfWait(job, waiting) ?? 'the end of its time');
  return `${hint}${stepEndText(job, waiting)}`;
}

/** Returns the time when the wait ends, as the job controller records it. */
function endOfWait(job: RemedyOperationJob, { reason, since }: Wait): string | undefined {
  if (reason === 'LeadTime') return leadTimeEnd(job);
  const { holdSeconds, timeoutSeconds } = job.spec.verify ?? {};
  if (reason === 'VerificationHolding') return timeAfter(since, holdSeconds);
  return timeAfter(job.status?.timeline?.executedAt, timeoutSeconds);
}

function leadTimeEnd(job: RemedyOperationJob): string | undefined {
  return timeAfter(openRecord(job)?.startedAt, currentStep(job)?.with?.['leadTimeSeconds']);
}

/** Returns a text about the end of the step: a step waits no longer than its timeout. */
function stepEndText(job: RemedyOperationJob, { reason }: Wait): string {
  const step = currentStep(job);
  const endsAt = timeAfter(openRecord(job)?.startedAt, step?.timeoutSeconds);
  if (endsAt === undefined || reason === 'LeadTime') return '';
  if (step?.onTimeout !== 'RequestApproval') return `; the step times out at ${endsAt}`;
  return reason === 'ApprovalRequired' ? '' : `; a person is asked at ${endsAt}`;
}

function openRecord(job: RemedyOperationJob): JobStepStatus | undefined {
  const step = currentStep(job);
  const record = step && stepRecord(job, step.id);
  return isOpenRecord(record) ? record : undefined;
}

function timeAfter(start: string | undefined, seconds: unknown): string | undefined {
  if (start === undefined || typeof seconds !== 'number') return undefined;
  return new Date(Date.parse(start) + seconds * 1000).toISOString().replace('.000Z', 'Z');
}
