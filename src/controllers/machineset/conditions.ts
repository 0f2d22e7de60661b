/** The conditions of a set. Pure. */
import type { MachineSet, PlannedAction, Wait } from '../../api/generated/types.ts';
import { inactiveFields, inactiveFieldText } from '../../api/inactive/find.ts';
import { type ConditionStatus, type ConditionUpdate, conditionOf } from '../../kube/objects/conditions.ts';
import type { MachineSetPlan, SetWait } from './actions.ts';
import { differingFields, isUpToDate, type Member } from './members.ts';
import { isOutdated } from './scaling/replacement.ts';

export interface ConditionsInput {
  readonly set: MachineSet;
  readonly plan: MachineSetPlan;
  /** Members that are not being deleted. */
  readonly live: readonly Member[];
  readonly wait: SetWait | undefined;
  /** The wait, with its begin. */
  readonly waiting: Wait | undefined;
  readonly planned: PlannedAction;
  readonly now: Date;
}

/** As often as a start may fail before a person has to look. */
const FAILED_STARTS = 3;

export function setConditions(input: ConditionsInput): readonly ConditionUpdate[] {
  const { set, plan, live, wait, planned } = input;
  const machinesReady = readyCondition(set, live);
  return [
    scaledCondition(input),
    machinesReady,
    upToDateCondition(set, live),
    plan.storm
      ? condition('StormGuardActive', 'True', plan.storm.reason, plan.storm.because)
      : condition('StormGuardActive', 'False', 'AsWanted', 'the machines are within the limits'),
    wait
      ? condition('Progressing', 'False', wait.reason, wait.message)
      : condition('Progressing', 'True', progressOf(plan), planned.because ?? ''),
    stalledCondition(input, machinesReady),
  ];
}

function scaledCondition({ set: { spec, metadata }, plan, live, wait }: ConditionsInput): ConditionUpdate {
  const type = 'ScaledAsWanted';
  const desired = metadata.deletionTimestamp === undefined ? spec.replicas : 0;
  const leaving = plan.members.length - live.length;
  const counts = `${live.length} of ${desired} machines, ${leaving} are being deleted`;
  if (live.length === desired && leaving === 0) return condition(type, 'True', 'AsWanted', counts);
  if (wait) return condition(type, 'False', wait.reason, `${counts}: ${wait.message}`);
  const { replacement } = plan;
  if (replacement) return condition(type, 'False', 'Replacing', `${counts}: ${replacement.because}`);
  return condition(type, 'False', live.length < desired ? 'ScalingUp' : 'ScalingDown', counts);
}

/**
 * Also of machines that do not exist yet: sync takes True as the proof of a change. The first one that is named is one whose agent was
 * never heard, if there is one: no time makes it Ready, but the token, the provider or the host that it waits for.
 */
function readyCondition({ spec: { replicas } }: MachineSet, live: readonly Member[]): ConditionUpdate {
  const type = 'MachinesReady';
  const waitFor = live.filter(({ unavailable }) => unavailable !== undefined);
  const available = live.length - waitFor.length;
  const counts = `${available} of ${replicas} machines are available`;
  if (waitFor.length === 0 && available >= replicas) return condition(type, 'True', 'AsWanted', counts);
  const first = waitFor.find(({ machine: { status } }) => status?.agent === undefined) ?? waitFor[0];
  if (!first) return condition(type, 'False', 'MachinesNotReady', counts);
  const others = waitFor.filter((member) => member !== first).map(({ name }) => name);
  const more = others.length > 0 ? `; also: ${others.slice(0, 4).join(', ')}` : '';
  const message = `${counts}; ${first.name}: ${first.unavailable}${more}`;
  return condition(type, 'False', 'MachinesNotReady', message);
}

function upToDateCondition({ spec }: MachineSet, live: readonly Member[]): ConditionUpdate {
  const type = 'UpToDate';
  const behind = live.filter((member) => !isUpToDate(member));
  if (behind.length === 0) return condition(type, 'True', 'AsWanted', 'every machine matches the template');
  const names = behind.slice(0, 5).map(({ name }) => name);
  const isOnDelete = spec.updateStrategy.type === 'OnDelete';
  const fields = behind.flatMap((member) =>
    isOnDelete ? differingFields(member) : member.differences.replacement,
  );
  if (fields.length > 0) {
    const list = [...new Set(fields)].toSorted().join(', ');
    return replacementCondition(spec, behind, `only other machines get the new ${list}: ${names.join(', ')}`);
  }
  const reason = updateWait(spec.paused, behind);
  return condition(type, 'False', reason, `${behind.length} machines differ: ${names.join(', ')}`);
}

function replacementCondition(
  { updateStrategy, paused }: MachineSet['spec'],
  behind: readonly Member[],
  text: string,
): ConditionUpdate {
  const type = 'UpToDate';
  if (updateStrategy.type !== 'Replace') {
    return condition(type, 'False', 'ReplacementRequired', `${text}. Delete them one by one`);
  }
  const others = behind.filter(isOutdated);
  const isHeld = others.length > 0 && others.every(({ hold }) => hold !== undefined);
  if (isHeld) return condition(type, 'False', 'MachinesHeld', `${text}. Held machines are not replaced`);
  return condition(type, 'False', paused ? 'Paused' : 'Replacing', text);
}

function updateWait(isPaused: boolean, behind: readonly Member[]): string {
  if (isPaused) return 'Paused';
  return behind.every(({ hold }) => hold?.scope === 'All') ? 'MachinesHeld' : 'Updating';
}

function progressOf({ actions, replacement }: MachineSetPlan): string {
  if (replacement) return 'Replacing';
  const reasons = {
    Create: 'ScalingUp',
    Delete: 'ScalingDown',
    Update: 'Updating',
    Adopt: 'Adopting',
    Release: 'Releasing',
  };
  const [first] = actions;
  return first ? reasons[first.type] : 'AsWanted';
}

function stalledCondition(input: ConditionsInput, machinesReady: ConditionUpdate): ConditionUpdate {
  const type = 'Stalled';
  const inactive = inactiveFields(input.set).map(inactiveFieldText);
  if (inactive.length > 0) return condition(type, 'True', 'NotSupported', inactive.join('; '));
  const failing = startupFailure(input, machinesReady);
  if (failing !== undefined) return condition(type, 'True', 'StartupFailing', failing);
  const { waiting } = input;
  if (waiting && isLate(input)) {
    const { reason, since, message = '' } = waiting;
    return condition(type, 'True', reason, `since ${since}: ${message}`);
  }
  return condition(type, 'False', 'AsWanted', 'no person is needed');
}

/** Until all are Ready: each machine that is late is replaced by one that is not late yet. */
function startupFailure(input: ConditionsInput, ready: ConditionUpdate): string | undefined {
  if (ready.status !== 'False') return undefined;
  const { set, plan, now } = input;
  const before = failureBefore(set);
  const failed = plan.members.find(({ failsToStart }) => failsToStart);
  const isFailing = before !== undefined || stopsReplacement(input) || hasFailedForLong(set, now);
  return failed && isFailing ? failureText(failed) : before;
}

/** The first replacement that does not start stops the others: a template that is wrong would take one machine after the other. */
function stopsReplacement({ set, live }: ConditionsInput): boolean {
  return set.spec.updateStrategy.type === 'Replace' && live.some(isOutdated);
}

function failureBefore({ status }: MachineSet): string | undefined {
  const stalled = conditionOf(status?.conditions, 'Stalled');
  return stalled?.status === 'True' && stalled.reason === 'StartupFailing' ? stalled.message : undefined;
}

function failureText({ name, machine }: Member): string {
  const { waiting } = machine.status ?? {};
  const why = waiting ? ` (${waiting.reason}: ${waiting.message})` : '';
  return `machines do not become Ready, such as ${name}${why}. See kubenode why machine ${name}`;
}

function isLate({ set, waiting, now }: ConditionsInput): boolean {
  const deadline = scalingDeadline(set, waiting);
  return deadline !== undefined && now >= deadline;
}

/** The waits without a deadline: a person decides when they end. */
const WITHOUT_DEADLINE: ReadonlySet<string> = new Set(['Paused']);

/**
 * Returns when a wait of a set needs a person. A set that is not paused waits until one of its machines may be deleted, or is:
 * each may take the time of its drain. A storm that takes longer does not end by itself either.
 */
export function scalingDeadline(
  { spec }: Pick<MachineSet, 'spec'>,
  waiting: Pick<Wait, 'reason' | 'since'> | undefined,
): Date | undefined {
  if (!waiting || WITHOUT_DEADLINE.has(waiting.reason)) return undefined;
  return new Date(Date.parse(waiting.since) + spec.template.deletion.drainTimeoutSeconds * 1000);
}

function hasFailedForLong(set: MachineSet, now: Date): boolean {
  const before = conditionOf(set.status?.conditions, 'MachinesReady');
  const seconds = (now.getTime() - Date.parse(before?.lastTransitionTime ?? '')) / 1000;
  return before?.status === 'False' && seconds > FAILED_STARTS * set.spec.startupTimeoutSeconds;
}

function condition(type: string, status: ConditionStatus, reason: string, message: string): ConditionUpdate {
  return { type, status, reason, message };
}
