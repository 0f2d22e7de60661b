/** The conditions of an event. Pure. */
import type { MaintenanceEvent } from '../../api/generated/types.ts';
import { isFinalState } from '../../api/machine/maintenance-events.ts';
import type { FoundWait } from '../../api/status/waiting.ts';
import type { ConditionUpdate } from '../../kube/objects/conditions.ts';
import type { StagedEvent } from './stage.ts';

type ConditionName = 'Matched' | 'Prepared' | 'Settled' | 'Inconsistent' | 'Progressing';

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
