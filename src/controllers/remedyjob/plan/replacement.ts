/**
 * Decides how a job replaces its machine through the MachineSet: it records its intent, marks the Machine, and waits until the machine does
 * not exist any more, or only its instance is kept, and another one of the set exists. The set deletes under the grant of the job. Pure.
 */
import type { StepInputs } from '../../../api/generated/steps.ts';
import type {
  JobReplacement,
  Machine,
  MachineReplacement,
  RemedyOperationJob,
} from '../../../api/generated/types.ts';
import { isKept, isOutOfUse } from '../../../api/machine/kept.ts';
import { LABEL_MACHINESET } from '../../../api/names.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { JobInput } from '../observe/observe.ts';

export interface JobReplacementInput
  extends Pick<JobInput, 'job' | 'machine' | 'node' | 'presentFault' | 'now'> {
  readonly machines: readonly Machine[];
  /** All jobs, with this one. */
  readonly jobs: readonly RemedyOperationJob[];
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
  options: StepInputs['ReplaceMachine'],
): ReplacementDecision {
  const machine = ownMachine(input);
  const { replacement } = input.job.status ?? {};
  if (!replacement) return begin(input, machine);
  if (!machine || isOutOfUse(machine, input.node)) return afterDeletion(input, replacement);
  if (machine.metadata.deletionTimestamp !== undefined) {
    const message = `Machine ${machine.metadata.name} is being deleted`;
    return { type: 'Wait', message, set: replacement.machineSet };
  }
  return refusal(input, machine) ?? beforeDeletion(input, machine, options);
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
  options: StepInputs['ReplaceMachine'],
): ReplacementDecision {
  if (!isMarkedBy(input.job, machine)) {
    return { type: 'Mark', machine, mark: markOf(input, machine, options) };
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
  { replacementFirst, keepFailed }: StepInputs['ReplaceMachine'],
): MachineReplacement {
  const { id, fence } = job.spec.grant;
  return {
    job: job.metadata.name,
    grant: id,
    fence,
    replacementFirst,
    wasReady: conditionStatus(status?.conditions, 'Ready') === 'True',
    since: now.toISOString(),
    ...optional('keepFailed', keepFailed),
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

/**
 * Returns the first machine that is as new as the job. The machines of a set are the same, so that each job may count any of them, but none
 * that another job counts: the jobs that still wait choose in the order of their creation, whichever of them is reconciled first.
 */
function newMachine(input: JobReplacementInput, machineSet: string): Machine | undefined {
  const { job, jobs, machines } = input;
  const others = jobs.filter(({ metadata }) => metadata.name !== job.metadata.name);
  const counted = new Set(others.flatMap(({ status }) => status?.replacement?.uid ?? []));
  const waiting = [job, ...others.filter((other) => isWaiting(other, machineSet, machines))];
  const candidates = machines.filter((machine) => isLive(machine, machineSet)).toSorted(byCreation);
  for (const each of waiting.toSorted(byCreation)) {
    const found = candidates.find(
      (machine) => createdAt(machine) >= createdAt(each) && !counted.has(machine.metadata.uid ?? ''),
    );
    if (each === job) return found;
    counted.add(found?.metadata.uid ?? '');
  }
  return undefined;
}

function isLive({ metadata }: Machine, machineSet: string): boolean {
  return metadata.labels?.[LABEL_MACHINESET] === machineSet && metadata.deletionTimestamp === undefined;
}

/** Tells whether the machine of a job was deleted, or is only kept, and the job does not count another one yet. */
function isWaiting(
  { spec, status }: RemedyOperationJob,
  machineSet: string,
  machines: readonly Machine[],
): boolean {
  const { replacement, outcome } = status ?? {};
  const isOfSet = replacement?.machineSet === machineSet && replacement.uid === undefined;
  return (
    isOfSet &&
    !outcome &&
    !machines.some((machine) => machine.metadata.uid === spec.machine.uid && !isKept(machine))
  );
}

function createdAt({ metadata }: KubeObject): number {
  return Date.parse(metadata.creationTimestamp ?? '');
}

function byCreation({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  return byCode(keyOf(a), keyOf(b));
}

function keyOf({ creationTimestamp = '', name }: KubeObject['metadata']): string {
  return `${creationTimestamp} ${name}`;
}

/**
 * Tells whether the machine is deleted, or not there any more, because the job replaces it. From then on nothing stops the job but its
 * deadline, and its own Node is not expected any more. Also after the step has failed: the job has used its grant.
 */
export function isReplaced({ job, machine }: Pick<JobInput, 'job' | 'machine'>): boolean {
  const own = ownMachine({ job, machine });
  const isAsked = job.status?.replacement !== undefined;
  return isAsked && (own === undefined || own.metadata.deletionTimestamp !== undefined);
}
