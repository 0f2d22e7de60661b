/**
 * A machine that a job handed to a person needs one until its case is closed: the fault stayed away for as long as the rule asks for,
 * the rule was deleted, or the Node was replaced. Pure.
 */
import type { Machine, RemedyOperationJob } from '../../../api/generated/types.ts';
import { type Condition, conditionOf } from '../../../kube/objects/conditions.ts';
import type { JobInput } from '../observe/observe.ts';
import { type JobDecision, jobFinding, type RepairWait } from './decision.ts';

const POLL_MS = 30_000;
const CLEARING = 'FaultClearing';

/** Undefined: no person is needed because of this job. */
export function planOpenCase(observation: JobInput): JobDecision | undefined {
  const { job, machine } = observation;
  if (!machine || machine.metadata.uid !== job.spec.machine.uid) return undefined;
  if (!isOf(job, needsPersonOf(machine))) return undefined;
  const closed = closedBecause(observation);
  if (closed === undefined) return waitForClear(observation);
  const because = `job ${job.metadata.name}: ${closed}`;
  return {
    type: 'ReportMachine',
    needsPerson: jobFinding('NeedsPerson', 'False', 'CaseClosed', because),
    because,
  };
}

function needsPersonOf({ status }: Machine): Condition | undefined {
  return conditionOf(status?.conditions, 'NeedsPerson');
}

/** The message names the job that asked for the person. */
function isOf({ metadata }: RemedyOperationJob, needsPerson: Condition | undefined): boolean {
  const asker = /^job (?<name>[^\s:]+)/.exec(needsPerson?.message ?? '')?.groups?.['name'];
  return needsPerson?.status === 'True' && asker === metadata.name;
}

function closedBecause(observation: JobInput): string | undefined {
  const { job, node, presentFault, now } = observation;
  if (node && node.metadata.uid !== job.spec.node.uid) return 'the Node was replaced';
  if (!presentFault) return `NodeRemedier ${job.spec.cause.remedier} was deleted`;
  if (presentFault.outcome !== 'NoMatch' || clearsAt(observation, presentFault) > now) return undefined;
  return `the fault stayed away for ${presentFault.clearSeconds} s`;
}

type PresentFault = NonNullable<JobInput['presentFault']>;

function clearsAt({ job, now }: JobInput, { clearSeconds }: PresentFault): Date {
  const { waiting } = job.status ?? {};
  const since = waiting?.reason === CLEARING ? Date.parse(waiting.since) : now.getTime();
  return new Date(since + clearSeconds * 1000);
}

function waitForClear(observation: JobInput): JobDecision {
  const { presentFault, now } = observation;
  const isAway = presentFault?.outcome === 'NoMatch';
  const wait: RepairWait = isAway
    ? {
        reason: CLEARING,
        message: `the fault has cleared; the case closes when it stays away for ${presentFault.clearSeconds} s`,
      }
    : {
        reason: 'NeedsPerson',
        message:
          'the machine was handed to a person, and the fault has not cleared. Repair the machine, or delete its Node',
      };
  const moments = [now.getTime() + POLL_MS, ...(isAway ? [Number(clearsAt(observation, presentFault))] : [])];
  return { type: 'Wait', because: wait.message, change: { wait }, requeueAt: new Date(Math.min(...moments)) };
}
