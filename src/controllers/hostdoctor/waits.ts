/** Explains what an event waits for, and what ends the wait. Pure. */

import type { Machine, NodeRemedier, RemedyOperationJob } from '../../api/generated/types.ts';
import { parseTime } from '../../api/machine/node-state.ts';
import { MAINTENANCE_REMEDIER } from '../../api/names.ts';
import { remedyOperationJobPhases } from '../../api/status/phase-tables.ts';
import type { FoundWait } from '../../api/status/waiting.ts';
import { wholeSeconds } from '../../os/dates.ts';
import { holdsNode } from './event-job.ts';
import type { MaintenanceInput } from './observe.ts';
import type { MaintenanceStage, StagedEvent } from './stage.ts';

type WaitOf = (staged: StagedEvent, observation: MaintenanceInput) => FoundWait | undefined;

const WAITS: Readonly<Record<MaintenanceStage, WaitOf>> = {
  Settled: () => undefined,
  Undoing: ({ job }) => job && undoingWait(job),
  Unmatched: ({ match }) => match.mismatch,
  Inconsistent: ({ stage, change: { inconsistent = '' } }) => ({
    reason: stage,
    message: `nothing is done: ${inconsistent}`,
  }),
  NotNeeded: (_, { event }) => overWait(`a machine needs no preparation for ${event.spec.type}`),
  NotScheduled: ({ stage }, { event }) => ({
    reason: stage,
    message: event.spec.hint
      ? 'it is a hint: a machine is prepared for what is certain'
      : 'the provider has not scheduled it: a machine is prepared in state Scheduled or Executing',
  }),
  Prepared: () => overWait('the machine is prepared'),
  TooEarly: ({ stage, actAt }) => actAt && earlyWait(stage, actAt),
  Preparing: latePreparationWait,
};

export function eventWait(staged: StagedEvent, observation: MaintenanceInput): FoundWait | undefined {
  return WAITS[staged.stage](staged, observation);
}

function undoingWait(job: RemedyOperationJob): FoundWait {
  const message = `job ${job.metadata.name} returns the node; no action required`;
  return { reason: 'Undoing', message, blocker: blockerOf(job) };
}

function earlyWait(reason: string, actAt: Date): FoundWait {
  return { reason, message: `preparation begins at ${wholeSeconds(actAt)}; no action required` };
}

function overWait(start: string): FoundWait {
  const message = `${start}; the reporter ends the event with spec.state Done, Cancelled, Failed or Avoided`;
  return { reason: 'EventNotOver', message };
}

function latePreparationWait(staged: StagedEvent, observation: MaintenanceInput): FoundWait {
  const wait = preparationWait(staged, observation);
  const { event, now } = observation;
  const deadline = parseTime(event.spec.deadline);
  if (!deadline || now <= deadline) return wait;
  const message = `not prepared by the deadline ${wholeSeconds(deadline)}: ${wait.message}`;
  return { ...wait, reason: 'DeadlinePassed', message };
}

function preparationWait({ job }: StagedEvent, { machine, remedier }: MaintenanceInput): FoundWait {
  if (job && holdsNode(job)) return jobWait(job);
  const idle = idleRuleWait(remedier);
  if (idle) return idle;
  const wait = machine && ruleWait(machine);
  if (wait) return wait;
  if (job) return endedJobWait(job);
  return { reason: 'NoJobYet', message: `${RULE} has begun no job: kubenode why node NODE shows why` };
}

const RULE = `NodeRemedier ${MAINTENANCE_REMEDIER}`;

/** Returns the wait as the controller of rules recorded it: a denial, another repair, a closed gate. */
function ruleWait({ status }: Machine): FoundWait | undefined {
  const wait = status?.remedyWaits?.find(({ rule }) => rule === MAINTENANCE_REMEDIER);
  return wait && { reason: wait.reason, message: wait.message ?? `${RULE} waits: ${wait.reason}` };
}

function idleRuleWait(remedier: NodeRemedier | undefined): FoundWait | undefined {
  if (!remedier) {
    const message = `${RULE} does not exist: add it to git, or prepare the machine by hand`;
    return { reason: 'NoRule', message };
  }
  const { mode } = remedier.spec;
  if (mode === 'Enforce') return undefined;
  return { reason: mode, message: `${RULE} is in mode ${mode}: set spec.mode Enforce in git` };
}

function jobWait(job: RemedyOperationJob): FoundWait {
  const { waiting, outcome, conditions } = job.status ?? {};
  const blocker = blockerOf(job);
  const start = `job ${job.metadata.name}`;
  if (waiting) {
    return { reason: waiting.reason, message: `${start}: ${waiting.message ?? waiting.reason}`, blocker };
  }
  return {
    reason: outcome?.class ?? 'JobRunning',
    message: `${start} is ${remedyOperationJobPhases.phaseOf({ conditions })}`,
    blocker,
  };
}

function endedJobWait(job: RemedyOperationJob): FoundWait {
  const { class: result = 'Ended', message } = job.status?.outcome ?? {};
  const text = `job ${job.metadata.name} ended as ${result}${message === undefined ? '' : `: ${message}`}`;
  return { reason: 'JobEnded', message: text, blocker: blockerOf(job) };
}

function blockerOf({ kind, metadata: { name } }: RemedyOperationJob): FoundWait['blocker'] {
  return { kind, name };
}
