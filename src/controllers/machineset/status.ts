/** Builds the status of a set from its plan and from what the Defender denied. Pure. */
import type { MachineSet, MachineSetStatus, PlannedAction } from '../../api/generated/types.ts';
import { LABEL_MACHINESET } from '../../api/names.ts';
import { machineSetPhases } from '../../api/status/phase-tables.ts';
import { waitingSince } from '../../api/status/waiting.ts';
import { withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { MachineSetAction, MachineSetPlan, SetWait } from './actions.ts';
import { setConditions } from './conditions.ts';
import { differingFieldsOf, isUpToDate, type Member } from './members.ts';

export interface StatusInput {
  readonly set: MachineSet;
  readonly plan: MachineSetPlan;
  /** The denials of the deletions that were asked for. */
  readonly denials: readonly DeniedDeletion[];
  readonly now: Date;
}

export interface DeniedDeletion {
  readonly machine: string;
  readonly reason: string;
  readonly message: string;
  readonly retryAt?: Date;
}

const MAX_NAMES = 20;
const MAX_MESSAGE = 256;

export function machineSetStatus(input: StatusInput): MachineSetStatus {
  const { set, plan, now } = input;
  const before = set.status;
  const live = plan.members.filter(({ isDeleting }) => !isDeleting);
  const wait = waitOf(input);
  const waiting = wait && waitingSince(wait, before?.waiting, now);
  const observedGeneration = optional('observedGeneration', set.metadata.generation);
  const planned = plannedAction(plan);
  const { deletionTimestamp, generation } = set.metadata;
  const updates = setConditions({ ...input, live, wait, waiting, planned });
  const conditions = withConditions(before?.conditions, updates, now, generation);
  return {
    ...observedGeneration,
    phase: machineSetPhases.phaseOf({ conditions, deletionTimestamp }),
    conditions,
    ...optional('waiting', waiting),
    replicas: countOf(plan.members, (member) => !member.isKept),
    readyReplicas: countOf(live, ({ isReady }) => isReady),
    availableReplicas: countOf(live, ({ unavailable }) => unavailable === undefined),
    upToDateReplicas: countOf(live, isUpToDate),
    failedReplicas: countOf(live, ({ isStalled, hasFailedToStart }) => isStalled || hasFailedToStart),
    selector: `${LABEL_MACHINESET}=${set.metadata.name}`,
    plannedAction: planned,
    ...optional('storm', plan.storm && stormStatus(plan.storm)),
  };
}

function countOf(members: readonly Member[], test: (member: Member) => boolean): number {
  return members.filter(test).length;
}

function stormStatus({ since, reason, unhealthy, limit }: NonNullable<MachineSetPlan['storm']>) {
  return { since, reason, unhealthy, limit };
}

/** A wait of the plan is about the whole set; a denial is about one machine of it. */
function waitOf({ plan, denials }: StatusInput): SetWait | undefined {
  const [denial] = denials;
  if (plan.wait || !denial) return plan.wait;
  const more = denials.length > 1 ? ` (and ${denials.length - 1} more)` : '';
  return {
    reason: 'GrantDenied',
    blocker: { kind: 'Machine', name: denial.machine },
    message: `${denial.reason}: ${denial.message}${more}`,
    ...optional('until', denial.retryAt),
  };
}

const TYPES = {
  Create: 'Create',
  Delete: 'Delete',
  Update: 'UpdateInPlace',
  Adopt: 'None',
  Release: 'None',
} as const;

function plannedAction({ actions, members, replacement }: MachineSetPlan): PlannedAction {
  const [first] = actions;
  const fields = differingFieldsOf(members);
  if (replacement) {
    const { names } = replacement;
    const because = truncate(replacement.because, MAX_MESSAGE);
    return { type: 'Replace', machines: names.length, names, fields, because };
  }
  if (!first) return { type: 'None', machines: 0, names: [], fields, because: 'nothing is to be done' };
  const same = actions.filter((action: MachineSetAction) => action.type === first.type);
  return {
    type: TYPES[first.type],
    machines: same.length,
    names: same.slice(0, MAX_NAMES).map(({ name }) => name),
    fields,
    because: truncate(first.because, MAX_MESSAGE),
  };
}
