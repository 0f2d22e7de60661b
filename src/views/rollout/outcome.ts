/** Whether a rollout is in work, has ended, or needs a person. Pure. */
import type { MachineComponentSet } from '../../api/generated/types.ts';
import { versionsText } from '../../api/machine/versions-text.ts';
import type { Reason } from '../../api/names.ts';
import { conditionOf, conditionStatus } from '../../kube/objects/conditions.ts';

/**
 * NeedsPerson: it goes on as soon as a person permits it. Failed: it ends here, until somebody changes the set or a machine.
 */
export type RolloutState = 'Running' | 'Completed' | 'NeedsPerson' | 'Failed';

export interface RolloutOutcome {
  readonly state: RolloutState;
  readonly because: string;
  /** It completed, and machines do not run it now. */
  readonly isBehind?: true;
}

const PERMITTED_BY_A_PERSON: readonly Reason[] = ['Paused', 'ApprovalRequired'];

export function rolloutOutcome(set: MachineComponentSet): RolloutOutcome {
  if (!isSetObserved(set)) {
    return { state: 'Running', because: unobservedReason(set) };
  }
  return stalled(set) ?? rollingBack(set) ?? ended(set) ?? waitingForPerson(set) ?? running(set);
}

/** Until then the status describes an earlier spec. */
export function isSetObserved({ metadata, status }: MachineComponentSet): boolean {
  return (status?.observedGeneration ?? -1) >= (metadata.generation ?? 0);
}

function unobservedReason({ status }: MachineComponentSet): string {
  const what =
    status?.observedGeneration === undefined
      ? 'it was not observed yet'
      : 'its last change was not observed yet';
  return `${what}: check that kubenode controllers runs`;
}

function rollingBack(set: MachineComponentSet): RolloutOutcome | undefined {
  const progressing = conditionOf(set.status?.conditions, 'Progressing');
  if (progressing?.reason !== ('RollingBack' satisfies Reason)) return undefined;
  return { state: 'Running', because: progressing.message };
}

function stalled({ status }: MachineComponentSet): RolloutOutcome | undefined {
  const found = conditionOf(status?.conditions, 'Stalled');
  return found?.status === 'True' ? { state: 'Failed', because: found.message } : undefined;
}

function ended(set: MachineComponentSet): RolloutOutcome | undefined {
  const ready = conditionOf(set.status?.conditions, 'Ready');
  if (ready?.status === 'False' && ready.reason === ('RolledBack' satisfies Reason)) {
    return { state: 'Failed', because: ready.message };
  }
  const completed = completedVersions(set);
  if (!isTrue(set, 'UpToDate')) return behind(set, completed) ?? conflict(set);
  return completed === undefined
    ? undefined
    : { state: 'Completed', because: `every machine that takes part runs ${completed}` };
}

/** Every machine may run the revision before its last batch has passed its gate: only then it is the current one. */
function completedVersions({ spec, status }: MachineComponentSet): string | undefined {
  return status?.currentRevision === status?.updateRevision ? versionsText(spec.components) : undefined;
}

/** Machines that fell behind after the end, or that are new, begin no rollout: each is behind by what it reports itself. */
function behind(set: MachineComponentSet, completed: string | undefined): RolloutOutcome | undefined {
  const conditions = set.status?.conditions;
  const { reason } = conditionOf(conditions, 'Progressing') ?? {};
  const isOver = isTrue(set, 'Progressing') && reason === ('AllDone' satisfies Reason);
  if (!isOver || completed === undefined) return undefined;
  const machines = conditionOf(conditions, 'UpToDate')?.message ?? 'machines are behind';
  return { state: 'Completed', because: `${completed} completed before; now ${machines}`, isBehind: true };
}

/** A conflict on some machines does not end the work on the others. */
function conflict(set: MachineComponentSet): RolloutOutcome | undefined {
  const found = conditionOf(set.status?.conditions, 'Conflict');
  if (found?.status !== 'True' || isTrue(set, 'Progressing')) return undefined;
  return { state: 'Failed', because: found.message };
}

function waitingForPerson({ spec, status }: MachineComponentSet): RolloutOutcome | undefined {
  const { reason, message = reason } = status?.waiting ?? {};
  if (spec.dryRun) {
    return { state: 'NeedsPerson', because: 'spec.dryRun is true: it plans and changes nothing' };
  }
  if (!spec.paused && !PERMITTED_BY_A_PERSON.includes(reason as Reason)) return undefined;
  return { state: 'NeedsPerson', because: message ?? 'it is paused' };
}

function running({ status }: MachineComponentSet): RolloutOutcome {
  const because = status?.waiting?.message ?? conditionOf(status?.conditions, 'Progressing')?.message;
  return { state: 'Running', because: because || 'machines are in work' };
}

function isTrue({ metadata, status }: MachineComponentSet, type: string): boolean {
  return conditionStatus(status?.conditions, type, metadata.generation) === 'True';
}
