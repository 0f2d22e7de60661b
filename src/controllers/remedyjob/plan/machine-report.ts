/** Builds what a job reports on its Machine: the repair, and whether a person is needed. Pure. */
import type {
  JobOutcome,
  Machine,
  MachineRepair,
  MachineRepairs,
  MachineReplacement,
  RemedyOperationJob,
} from '../../../api/generated/types.ts';
import {
  type Condition,
  type ConditionUpdate,
  conditionOf,
  conditionStatus,
  withCondition,
} from '../../../kube/objects/conditions.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { JobInput } from '../observe/observe.ts';
import { lastPower } from '../power/power-records.ts';
import { mayHaveChanged } from './acts.ts';
import { jobFinding } from './decision.ts';
import { isMarkedBy } from './replacement.ts';

const TYPE = 'NeedsPerson';
const MAX_RECENT = 10;

export interface MachineJobReport {
  readonly repairs?: MachineRepairs;
  readonly replacement?: MachineReplacement;
  readonly conditions?: readonly Condition[];
}

/** Returns the new state of the condition NeedsPerson. Undefined: it stays as it is. A verified repair needs no person. */
export function needsPersonFinding(
  { job, machine }: JobInput,
  { class: kind, message = kind }: JobOutcome,
): ConditionUpdate | undefined {
  const text = `job ${job.metadata.name}: ${message}`;
  if (wasGivenUp(job)) {
    return jobFinding(TYPE, 'True', 'PowerUnknown', `${text}; the machine may be off: switch it on`);
  }
  if (kind === 'HandedOff') return jobFinding(TYPE, 'True', 'HandedOff', text);
  const isAsked = conditionStatus(machine?.status?.conditions, TYPE) === 'True';
  if (kind !== 'Succeeded' || !isAsked) return undefined;
  return jobFinding(TYPE, 'False', 'Repaired', `job ${job.metadata.name} has repaired the machine`);
}

/** Tells whether the machine was not switched on again. */
function wasGivenUp(job: RemedyOperationJob): boolean {
  return lastPower(job)?.power.givenUpAt !== undefined;
}

export function isMachineReported(observation: JobInput, needsPerson: ConditionUpdate | undefined): boolean {
  const { job, machine } = observation;
  if (machine && isMarkedBy(job, machine)) return false;
  return isReported(machine, needsPerson) && repairsAfter(observation) === machine?.status?.repairs;
}

function isReported(machine: Machine | undefined, needsPerson: ConditionUpdate | undefined): boolean {
  if (needsPerson === undefined) return true;
  const before = conditionOf(machine?.status?.conditions, TYPE);
  return before?.status === needsPerson.status && before.message === needsPerson.message;
}

/**
 * Returns all that the manager of jobs owns in the status of the Machine: what it leaves out would be removed. So is the mark of this job,
 * which has ended.
 */
export function machineReport(
  observation: JobInput,
  needsPerson: ConditionUpdate | undefined,
): MachineJobReport {
  const { job, machine, now } = observation;
  const kept = keptConditions(machine);
  const conditions = needsPerson ? withCondition(kept, needsPerson, now) : kept;
  return {
    ...optional('repairs', repairsAfter(observation)),
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(machine && !isMarkedBy(job, machine) ? optional('replacement', machine.status?.replacement) : {}),
  };
}

/** Returns the same with the mark of a job that is in work: its repair is counted when it ends. */
export function markedStatus(machine: Machine, replacement: MachineReplacement): MachineJobReport {
  return { ...keptReport(machine), replacement };
}

/** Returns the same without the mark of a job that does not exist any more. It is never empty: that would be a write of the whole status. */
export function unmarkedStatus(machine: Machine): MachineJobReport {
  return { repairs: { total: 0, recent: [] }, ...keptReport(machine) };
}

function keptReport(machine: Machine): Pick<MachineJobReport, 'repairs' | 'conditions'> {
  const conditions = keptConditions(machine);
  return {
    ...optional('repairs', machine.status?.repairs),
    ...(conditions.length > 0 ? { conditions } : {}),
  };
}

function keptConditions(machine: Machine | undefined): readonly Condition[] {
  const before = conditionOf(machine?.status?.conditions, TYPE);
  return before ? [before] : [];
}

/** Returns the repairs with this job: the same object when the job is in it, or did nothing. */
function repairsAfter({ job, machine, now }: JobInput): MachineRepairs | undefined {
  const before = machine?.status?.repairs;
  const { total = 0, recent = [] } = before ?? {};
  if (!hasActed(job) || recent.some((repair) => repair.job === job.metadata.name)) return before;
  return { total: total + 1, recent: [repairOf(job, now), ...recent].slice(0, MAX_RECENT) };
}

function repairOf(job: RemedyOperationJob, now: Date): MachineRepair {
  const { metadata, spec, status } = job;
  const outcome = optional('outcome', status?.outcome?.class);
  const changed = mayHaveChanged(job) ? {} : { changed: false };
  return { job: metadata.name, risk: spec.risk, at: now.toISOString(), ...outcome, ...changed };
}

function hasActed({ status }: RemedyOperationJob): boolean {
  return (status?.steps ?? []).some(({ state }) => state !== 'Pending' && state !== 'Skipped');
}
