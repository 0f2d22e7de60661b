/** Builds the status of a MaintenanceEvent, with its conditions. Pure. */
import type { MaintenanceEvent, MaintenanceEventStatus } from '../../api/generated/types.ts';
import { isFinalState } from '../../api/machine/maintenance-events.ts';
import { maintenanceEventPhases } from '../../api/status/phase-tables.ts';
import { type FoundWait, waitingSince } from '../../api/status/waiting.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { wholeSeconds } from '../../os/dates.ts';
import type { MaintenanceInput } from './observe.ts';
import { respondedTo } from './responded.ts';
import type { StagedEvent } from './stage.ts';
import { eventWait } from './waits.ts';

type ConditionName = 'Matched' | 'Prepared' | 'Settled' | 'Inconsistent' | 'Progressing';

export function maintenanceStatus(
  staged: StagedEvent,
  observation: MaintenanceInput,
): MaintenanceEventStatus {
  const { event, now } = observation;
  const { metadata, status = { conditions: [] } } = event;
  const { match, change, actAt, job } = staged;
  const wait = eventWait(staged, observation);
  const findings = eventFindings(staged, event, wait);
  const conditions = withConditions(status.conditions, findings, now, metadata.generation);
  return {
    ...optional('observedGeneration', metadata.generation),
    phase: maintenanceEventPhases.phaseOf({ conditions }),
    conditions,
    ...optional('waiting', wait && waitingSince(wait, status.waiting, now)),
    observedState: change.observed,
    ...optional('machine', match.machine),
    ...optional('actAt', actAt && wholeSeconds(actAt)),
    ...jobNames(job, status),
    ...respondedTo(event, observation.jobs),
    reports: metadata.generation ?? 1,
  };
}

/** A job may be deleted before the event is. */
function jobNames(
  job: StagedEvent['job'],
  { job: name, remedier }: MaintenanceEventStatus,
): Pick<MaintenanceEventStatus, 'job' | 'remedier'> {
  if (job) return { job: job.metadata.name, remedier: job.spec.cause.remedier };
  return { ...optional('job', name), ...optional('remedier', remedier) };
}

export function eventFindings(
  staged: StagedEvent,
  event: MaintenanceEvent,
  wait: FoundWait | undefined,
): readonly ConditionUpdate[] {
  return [
    matched(staged, event),
    inconsistent(staged),
    prepared(staged, event, wait),
    settled(staged, event),
    progressing(staged, wait),
  ];
}

function matched({ match: { mismatch } }: StagedEvent, { spec }: MaintenanceEvent): ConditionUpdate {
  if (mismatch) return finding('Matched', false, mismatch.reason, mismatch.message);
  return finding('Matched', true, 'MachineFound', `Machine ${spec.machine} is the one that is meant`);
}

function inconsistent({ change }: StagedEvent): ConditionUpdate {
  if (change.inconsistent !== undefined) {
    return finding('Inconsistent', true, 'ImpossibleChange', change.inconsistent);
  }
  return finding('Inconsistent', false, 'AsReported', `state ${change.observed}`);
}

function prepared(
  { stage, job }: StagedEvent,
  { spec }: MaintenanceEvent,
  wait: FoundWait | undefined,
): ConditionUpdate {
  if (stage === 'NotNeeded') {
    return finding('Prepared', true, stage, `${spec.type} needs no preparation`);
  }
  if (stage === 'Prepared') {
    return finding('Prepared', true, 'Drained', `job ${job?.metadata.name ?? ''} has prepared the machine`);
  }
  if (!wait) return finding('Prepared', false, 'Over', 'the event is over');
  return finding('Prepared', false, wait.reason, wait.message);
}

function settled({ stage, job }: StagedEvent, { spec }: MaintenanceEvent): ConditionUpdate {
  if (stage === 'Undoing') {
    return finding('Settled', false, stage, `job ${job?.metadata.name ?? ''} has not returned the node`);
  }
  if (stage !== 'Settled') return finding('Settled', false, 'NotOver', `the event is ${spec.state}`);
  if (isFinalState(spec.state)) {
    return finding(
      'Settled',
      true,
      spec.state,
      `the event is ${spec.state}, and nothing is left on the node`,
    );
  }
  return finding(
    'Settled',
    true,
    'HintExpired',
    'the time of the hint is over, and nothing is left on the node',
  );
}

/** A person sees in it whether something happens now. */
function progressing({ stage }: StagedEvent, wait: FoundWait | undefined): ConditionUpdate {
  const isPreparing = stage === 'Preparing';
  return finding('Progressing', isPreparing, stage, wait?.message ?? 'the event is over');
}

function finding(type: ConditionName, isTrue: boolean, reason: string, message: string): ConditionUpdate {
  return { type, status: isTrue ? 'True' : 'False', reason, message };
}
