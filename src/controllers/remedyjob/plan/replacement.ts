/**
 * Decides how a job replaces its machine through the MachineSet: it records its intent, marks the Machine, and waits until the machine does
 * not exist any more and another one of the set does. The set deletes under the grant of the job. Pure.
 */
import type { StepInputs } from '../../../api/generated/steps.ts';
import type {
  JobReplacement,
  Machine,
  MachineReplacement,
  RemedyOperationJob,
} from '../../../api/generated/types.ts';
import { LABEL_MACHINESET } from '../../../api/names.ts';
import { isOpenRecord, stepName, stepRecord } from '../../../api/status/step-records.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import type { JobInput } from '../observe/observe.ts';

export interface JobReplacementInput extends Pick<JobInput, 'job' | 'machine' | 'presentFault' | 'now'> {
  readonly machines: readonly Machine[];
  /** UIDs of the machines that other jobs count as their replacement. */
  readonly claimed: ReadonlySet<string>;
}

export type ReplacementDecision =
  | { readonly type: 'Fail'; readonly code: string; readonly message: string }
  /** Records the intent before the act. */
  | { readonly type: 'Record'; readonly replacement: JobReplacement }
  | { readonly type: 'Mark'; readonly machine: Machine; readonly mark: MachineReplacement }
  | { readonly type: 'Wait'; readonly message: string; readonly set: string }
  | { readonly type: 'Done'; readonly replacement: JobReplacement };

export function planReplacementStep(
  input: JobReplacementInput,
  options: Pick<StepInputs['ReplaceMachine'], 'replacementFirst'>,
): ReplacementDecision {
  const machine = ownMachine(input);
  const { replacement } = input.job.status ?? {};
  if (!replacement) return begin(input, machine);
  if (!machine) return afterDeletion(input, replacement);
  if (machine.metadata.deletionTimestamp !== undefined) {
    const message = `Machine ${machine.metadata.name} is being deleted`;
    return { type: 'Wait', message, set: replacement.machineSet };
  }
  return refusal(input, machine) ?? beforeDeletion(input, machine, options.replacementFirst);
}

function begin(input: JobReplacementInput, machine: Machine | undefined): ReplacementDecision {
  const { job, now } = input;
  const { name } = job.spec.machine;
  if (!machine) return { type: 'Fail', code: 'NotFound', message: `Machine ${name} does not exist` };
  const refused = refusal(input, machine);
  if (refused) return refused;
  const replacement = { machineSet: machineSetOf(machine) ?? '', requestedAt: now.toISOString() };
  return { type: 'Record', replacement };
}

function beforeDeletion(
  input: JobReplacementInput,
  machine: Machine,
  replacementFirst: boolean,
): ReplacementDecision {
  if (!isMarkedBy(input.job, machine)) {
    return { type: 'Mark', machine, mark: markOf(input, machine, replacementFirst) };
  }
  const set = machineSetOf(machine) ?? '';
  return { type: 'Wait', message: `MachineSet ${set} is to replace the machine`, set };
}

function ownMachine({ job, machine }: Pick<JobInput, 'job' | 'machine'>): Machine | undefined {
  return machine?.metadata.uid === job.spec.machine.uid ? machine : undefined;
}

function refusal(
  { job, presentFault }: JobReplacementInput,
  machine: Machine,
): Extract<ReplacementDecision, { type: 'Fail' }> | undefined {
  const { name } = job.spec.machine;
  if (machineSetOf(machine) === undefined) {
    const message = `Machine ${name} belongs to no MachineSet, which could replace it. Replace it by hand`;
    return { type: 'Fail', code: 'NoMachineSet', message };
  }
  // A rule that changed since does not refute the job. A machine that it finds well is not replaced all the same.
  if (presentFault?.outcome !== 'NoMatch') return undefined;
  const message = `NodeRemedier ${job.spec.cause.remedier} does not match any more`;
  return { type: 'Fail', code: 'MachineRecovered', message };
}

/** Returns the name of the set that owns the machine. */
function machineSetOf({ metadata }: Machine): string | undefined {
  return metadata.ownerReferences?.find(({ kind, controller }) => kind === 'MachineSet' && controller)?.name;
}

export function isMarkedBy({ metadata }: RemedyOperationJob, { status }: Machine): boolean {
  return status?.replacement?.job === metadata.name;
}

function markOf(
  { job, now }: JobReplacementInput,
  { status }: Machine,
  replacementFirst: boolean,
): MachineReplacement {
  const { id, fence } = job.spec.grant;
  return {
    job: job.metadata.name,
    grant: id,
    fence,
    replacementFirst,
    wasReady: conditionStatus(status?.conditions, 'Ready') === 'True',
    since: now.toISOString(),
  };
}

function afterDeletion(input: JobReplacementInput, replacement: JobReplacement): ReplacementDecision {
  const { machineSet } = replacement;
  const found = newMachine(input, machineSet);
  const message = `MachineSet ${machineSet} creates another machine`;
  if (!found) return { type: 'Wait', message, set: machineSet };
  const { name, uid = '' } = found.metadata;
  return { type: 'Done', replacement: { ...replacement, machine: name, uid } };
}

/** The machines of a set are the same: the first one that is as new as the job, and that no other job counts as its own. */
function newMachine(
  { job, machines, claimed }: JobReplacementInput,
  machineSet: string,
): Machine | undefined {
  const from = Date.parse(job.metadata.creationTimestamp ?? '');
  const isNew = ({ metadata }: Machine): boolean =>
    metadata.labels?.[LABEL_MACHINESET] === machineSet &&
    metadata.deletionTimestamp === undefined &&
    Date.parse(metadata.creationTimestamp ?? '') >= from &&
    !claimed.has(metadata.uid ?? '');
  return machines.filter(isNew).toSorted(byCreation)[0];
}

function byCreation({ metadata: a }: Machine, { metadata: b }: Machine): number {
  return byCode(keyOf(a), keyOf(b));
}

function keyOf({ creationTimestamp = '', name }: Machine['metadata']): string {
  return `${creationTimestamp} ${name}`;
}

/**
 * Tells whether the machine is deleted, or not there any more, because the job replaces it. From then on nothing stops the job but its
 * deadline, and its own Node is not expected any more.
 */
export function isReplaced({ job, machine }: Pick<JobInput, 'job' | 'machine'>): boolean {
  const isAsked = job.status?.replacement !== undefined && job.spec.plan.some((step) => hasBegun(job, step));
  const own = ownMachine({ job, machine });
  return isAsked && (own === undefined || own.metadata.deletionTimestamp !== undefined);
}

function hasBegun(job: RemedyOperationJob, step: RemedyOperationJob['spec']['plan'][number]): boolean {
  if (stepName(step) !== 'ReplaceMachine') return false;
  const record = stepRecord(job, step.id);
  return isOpenRecord(record) || record?.state === 'Succeeded';
}
