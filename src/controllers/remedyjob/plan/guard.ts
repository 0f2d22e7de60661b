/**
 * Finds what forbids the next disruptive step of a job, so that the job stops: the node is another one than when the job was
 * granted, the fault has cleared, or a person wants something else. Silence of the sick node forbids nothing. Pure.
 */
import type { JobOutcome, RemedyOperationJob } from '../../../api/generated/types.ts';
import { ANNOTATION_CORDONED_BY } from '../../../api/names.ts';
import { bootIdOf, stepName, stepRecord } from '../../../api/status/step-records.ts';
import { type CordonMark, cordonState } from '../../../kube/drain/cordon.ts';
import { holdInForce } from '../../../rollout/holds.ts';
import type { JobInput } from '../observe/observe.ts';
import { isSwitchedOn } from '../power/power-records.ts';
import { mayBeAnswered } from '../power/provider-answer.ts';

export type AbortReason =
  | 'NodeReplaced'
  | 'DeadlineExceeded'
  | 'Cancelled'
  | 'BootChanged'
  | 'Held'
  | 'UncordonedByPerson'
  | 'RuleRefuted'
  | 'GrantLost';

export interface Abort {
  readonly reason: AbortReason;
  readonly message: string;
}

export const ABORT_CLASSES: Readonly<Record<AbortReason, JobOutcome['class']>> = {
  NodeReplaced: 'Superseded',
  DeadlineExceeded: 'Transient',
  Cancelled: 'Cancelled',
  BootChanged: 'Cancelled',
  Held: 'Cancelled',
  UncordonedByPerson: 'Cancelled',
  RuleRefuted: 'Cancelled',
  GrantLost: 'Transient',
};

type Guard = (observation: JobInput) => Abort | undefined;

const GUARDS: readonly Guard[] = [guardHold, guardBoot, guardCordon, guardRule];

/** Returns the first abort in the order of `GUARDS`. */
export function guardAbort(observation: JobInput): Abort | undefined {
  for (const guard of GUARDS) {
    const abort = guard(observation);
    if (abort) return abort;
  }
  return undefined;
}

function guardHold({ machine, node, now }: JobInput): Abort | undefined {
  const hold = machine && holdInForce(machine, node, now);
  return hold && { reason: 'Held', message: `the machine is held: ${hold.reason}` };
}

/** Forbids a step on a node that has booted since. A Node that reports no boot is silent. */
function guardBoot({ job, node }: JobInput): Abort | undefined {
  const bootID = bootIdOf(node);
  const before = job.spec.node.bootID;
  if (bootID === undefined || bootID === before || hasRebooted(job)) return undefined;
  return { reason: 'BootChanged', message: `the node has booted since the job began: ${bootID}` };
}

/** Tells whether our own Reboot was released, the machine was switched on by us, or its provider was answered: from then on another boot is expected. */
export function hasRebooted(job: RemedyOperationJob): boolean {
  return job.spec.plan.some((step) => {
    const record = stepRecord(job, step.id);
    if (!record || record.state === 'Pending' || record.state === 'Skipped') return false;
    return stepName(step) === 'Reboot' || isSwitchedOn(record) || mayBeAnswered(record);
  });
}

function guardCordon({ job, node }: JobInput): Abort | undefined {
  if (!node || cordonState(node, markOfJob(job)) !== 'UncordonedByPerson') return undefined;
  return { reason: 'UncordonedByPerson', message: 'a person has uncordoned the node' };
}

function guardRule({ job, rule }: JobInput): Abort | undefined {
  if (rule !== 'NoMatch') return undefined;
  return { reason: 'RuleRefuted', message: `NodeRemedier ${job.spec.cause.remedier} no longer matches` };
}

export function markOfJob({ spec }: RemedyOperationJob): CordonMark {
  return { annotation: ANNOTATION_CORDONED_BY, owner: spec.grant.id };
}
