/**
 * Carries out the plan of a set: first what has to be durable, then grants, then the entries of machines. One machine that cannot
 * be written keeps no other.
 */
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type {
  Machine,
  MachineComponentSet,
  MachineComponentSetStatus,
} from '../../../api/generated/types.ts';
import type { GrantSettlement } from '../../../api/grants.ts';
import { versionsText } from '../../../api/machine/versions-text.ts';
import { EVENT_PREFIX, MANAGER_COMPONENTSET } from '../../../api/names.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { repeatRefused } from '../../../kube/process/repeat-refused.ts';
import { runConcurrently } from '../../../kube/process/run-concurrently.ts';
import { entriesWrite, type GivenGrant, type WritingAction } from '../rollout/assignment.ts';
import type { RolloutAction, RolloutInput, RolloutPlan } from '../rollout/input.ts';
import type { DeniedMachine } from '../status/report.ts';
import { currentVersion } from './current-version.ts';
import {
  obtainGrants,
  type PermittedAction,
  type RolloutGrants,
  type RolloutPermissions,
} from './permissions.ts';
import { storeRevisions } from './revisions.ts';

export interface RolloutExecution {
  readonly input: RolloutInput;
  readonly plan: RolloutPlan;
  /** The status that is to be written before the first act. */
  readonly status: MachineComponentSetStatus;
  readonly grants: RolloutGrants;
  readonly context: ReconcileContext;
}

export interface RolloutResult {
  readonly denials: readonly DeniedMachine[];
  /** Whether something was changed by others meanwhile, or could not be written: it is tried again soon. */
  readonly isIncomplete: boolean;
  /** The first error that is not a conflict, when all is tried. */
  readonly failure?: Error;
}

export interface AnnouncedResult extends RolloutResult {
  /** Whether the plan was of the set as it is, so that what the rollout remembers is written. */
  readonly isCurrent: boolean;
}

type Settle = Extract<RolloutAction, { type: 'Settle' }>;

export async function carryOutRollout(execution: RolloutExecution): Promise<AnnouncedResult> {
  const { input, plan, grants, context } = execution;
  const isCurrent = await announce(execution);
  // Of a set that was changed meanwhile only what has ended is settled.
  const actions = isCurrent ? plan.actions : plan.actions.filter((action) => isEnd(action));
  const result = await carryOutActions({ input, actions, grants, context });
  return { ...result, isCurrent, isIncomplete: result.isIncomplete || !isCurrent };
}

function isEnd({ type: what }: RolloutAction): boolean {
  return what === 'Settle' || what === 'Release';
}

export interface ActionsExecution extends Omit<RolloutExecution, 'plan' | 'status'> {
  readonly actions: readonly RolloutAction[];
}

/** Carries out actions for a deleted set: no status is written. */
export async function carryOutActions(execution: ActionsExecution): Promise<RolloutResult> {
  const permitted = execution.actions.filter(
    (action) => action.type === 'Assign' || action.type === 'Permit',
  );
  const outcomes = new Outcomes();
  const settlements = await endAll(execution, outcomes);
  // Together they are one write of the ledger, in this order: what is settled makes room for what is asked.
  const [, denials] = await Promise.all([
    settlements.length > 0 && outcomes.of(execution.grants.settle(settlements)),
    permitAll(permitted, execution, outcomes),
  ]);
  const { isIncomplete, failure } = outcomes;
  return { denials, isIncomplete, ...optional('failure', failure) };
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Gathers what went wrong: a conflict is not an error. */
class Outcomes {
  isIncomplete = false;
  failure: Error | undefined;

  async of(work: Promise<unknown>): Promise<boolean> {
    try {
      await work;
      return true;
    } catch (error) {
      this.note(error);
      return false;
    }
  }

  note(error: unknown): void {
    this.isIncomplete = true;
    if (!isKubeError(error, 'Conflict')) this.failure ??= errorOf(error);
  }
}

/**
 * Writes the intent before the first act that follows from it, on the version of the set that was read: a set that was changed or
 * paused meanwhile begins nothing. Without an intent, the same write only proves that what was read is current.
 */
async function announce({ input, plan, status, context }: RolloutExecution): Promise<boolean> {
  const isNeeded = plan.actions.some(
    ({ type: what }) => what === 'Persist' || what === 'Assign' || what === 'Permit',
  );
  if (!isNeeded) return true;
  await storeRevisions(input, plan.progress, context);
  const { name, uid, resourceVersion } = input.set.metadata;
  const metadata = { name, ...optional('uid', uid), ...optional('resourceVersion', resourceVersion) };
  try {
    await context.applyStatus(MACHINE_COMPONENT_SETS, { metadata, status });
    return true;
  } catch (error) {
    if (!isKubeError(error, 'Conflict')) throw error;
    context.log.info('set changed meanwhile: planned again', {});
    return false;
  }
}

/** Removes grants from the entries of machines first, and then returns what is to be settled in the ledger. */
async function endAll(
  { input, actions, context }: ActionsExecution,
  outcomes: Outcomes,
): Promise<readonly GrantSettlement[]> {
  const settlements: GrantSettlement[] = actions.flatMap((action) =>
    action.type === 'Release'
      ? [{ id: action.grant.id, fence: action.grant.fence, outcome: action.outcome }]
      : [],
  );
  const settles = actions.filter((action) => action.type === 'Settle');
  await runConcurrently(settles, async (action) => {
    const settlement = settlementOf(action, input);
    const isWritten = await outcomes.of(writeEntries(action, undefined, { input, context }));
    if (isWritten && settlement) settlements.push(settlement);
  });
  return settlements;
}

/** Returns the settlement for the grant in the entries, or for that in the ledger after a crash between the two writes. */
function settlementOf({ member, outcome }: Settle, { set }: RolloutInput): GrantSettlement | undefined {
  const { machine, grant: recorded } = member;
  const entry = machine.spec.components.find(
    ({ assignment, grant }) => assignment?.set === set.metadata.name && grant !== undefined,
  );
  const grant = entry?.grant ?? recorded;
  return grant && { id: grant.id, fence: grant.fence, outcome };
}

async function permitAll(
  actions: readonly PermittedAction[],
  { input, grants, context }: ActionsExecution,
  outcomes: Outcomes,
): Promise<readonly DeniedMachine[]> {
  if (actions.length === 0) return [];
  const { granted, denied } = await obtainGrants(actions, input, grants);
  await repeatRefused(granted, (each) => writeGranted(each, { input, context }, outcomes), {
    sleep: (ms) => context.clock.sleep(ms, context.signal),
    refused: (error) => outcomes.note(error),
  });
  return denied.map(({ action, denial }) => ({ machine: action.member.name, denial }));
}

type GrantedAction = RolloutPermissions['granted'][number];

/** Writes the entries of one machine. Returns the error when the server refuses what a grant permits. */
async function writeGranted(
  { action, grant }: GrantedAction,
  parts: WriteParts,
  outcomes: Outcomes,
): Promise<unknown> {
  if (isPausedNow(parts.input, parts.context)) {
    outcomes.isIncomplete = true;
    return undefined;
  }
  try {
    await writeEntries(action, grant, parts);
    if (action.type === 'Assign') tell(action, grant, parts);
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return error;
    outcomes.note(error);
  }
  return undefined;
}

interface WriteParts {
  readonly input: Pick<RolloutInput, 'set'>;
  readonly context: ReconcileContext;
}

/** Tells whether the set was paused meanwhile: a large batch takes longer than a person who pauses it wants to wait. */
function isPausedNow({ set }: Pick<RolloutInput, 'set'>, context: ReconcileContext): boolean {
  const now = context.view<MachineComponentSet>(MACHINE_COMPONENT_SETS).get(set.metadata.name);
  return !set.spec.paused && now?.spec.paused !== false;
}

/** Writes entries on the version of the Machine that was read, so that no entry is taken over that became a pin. */
async function writeEntries(
  action: WritingAction,
  grant: GivenGrant | undefined,
  { input, context }: WriteParts,
): Promise<void> {
  const { metadata, spec } = input.set;
  const set = { name: metadata.name, ...optional('retryToken', spec.retryToken) };
  const { machine: name, components } = entriesWrite(set, action, grant);
  const newest = context.view<Machine>(MACHINES).get(name);
  const target = { name, ...optional('resourceVersion', currentVersion(action.member.machine, newest)) };
  await context.apply(MACHINES, { metadata: target, spec: { components } });
}

function tell(
  { member, revision, because }: Extract<RolloutAction, { type: 'Assign' }>,
  { id }: GivenGrant,
  { input, context }: WriteParts,
): void {
  context.log.info('machine assigned', { machine: member.name, revision: revision.name, because, grant: id });
  const reason = `${EVENT_PREFIX[MANAGER_COMPONENTSET]}Assigned`;
  const note = `Machine ${member.name}: ${versionsText(revision.components)}, ${because} (grant ${id})`;
  context.event(input.set, { type: 'Normal', reason, action: 'Assign', note });
}
