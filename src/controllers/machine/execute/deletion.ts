/** Carries out the deletion of a machine, one step at a time. Nothing disruptive is done without a grant that was just renewed. */
import { DEFENDER_LEDGERS, MACHINES } from '../../../api/generated/resources.ts';
import type { LedgerGrant, Machine, MachineKept } from '../../../api/generated/types.ts';
import type { GrantAsk } from '../../../api/grants.ts';
import { FINALIZER_MACHINE, LEDGER } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { type DeletionDecision, ownNode, planDeletion } from '../deletion.ts';
import { componentOrder, type DrainOrder, type MachineDrainInput } from '../drain.ts';
import { providerBlocker } from '../instance/findings.ts';
import { KEPT_REASON, othersKeptOf } from '../instance/keeping.ts';
import { mayHaveInstance } from '../instance/plan.ts';
import type { RemovalWait } from '../instance/removal.ts';
import type { MachineWait } from '../plan.ts';
import {
  carryOutDecision,
  carryOutDrain,
  type DrainExecutor,
  type DrainResult,
  denialResult,
  renewalDenial,
  tell,
} from './drain.ts';

export interface DeletionInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
}

export interface DeletionExecutor extends DrainExecutor {
  readonly client: Pick<Client, 'pages' | 'get'>;
  /** Undefined: nothing of the instance is left. */
  readonly removeInstance: (machine: Machine, context: ReconcileContext) => Promise<RemovalWait | undefined>;
}

export interface DeletionResult extends DrainResult {
  /** The record that the instance is kept, which is to be written. */
  readonly kept?: MachineKept;
  /** The finalizer is removed. */
  readonly isFinished?: boolean;
}

/** The view of the ledger follows a write after a moment. */
const RETRY_MS = 1000;
/** Another machine that is kept, and has the place of this one, may not have been in our view. */
const CHECK_KEPT_MS = 300_000;
const IN_WORK: MachineWait = {
  step: 'Draining',
  reason: 'Deleting',
  message: 'the Machine is being deleted',
};

export async function carryOutDeletion(
  executor: DeletionExecutor,
  input: DeletionInput,
  context: ReconcileContext,
): Promise<DeletionResult> {
  const { machine } = input;
  // Only finalizers of others keep it.
  if (!machine.metadata.finalizers?.includes(FINALIZER_MACHINE)) return { drain: machine.status?.drain };
  const result = await advance({ ...input, executor, context, entry: entryOf(machine, context) });
  return result.isFinished ? result : { ...result, wait: result.wait ?? IN_WORK };
}

interface Deletion extends DeletionInput {
  readonly executor: DeletionExecutor;
  readonly context: ReconcileContext;
  readonly entry: LedgerGrant | undefined;
  /** Given in this reconcile. */
  readonly order?: DrainOrder;
}

function entryOf({ metadata }: Machine, context: ReconcileContext): LedgerGrant | undefined {
  const grants = context.view(DEFENDER_LEDGERS).get(LEDGER)?.spec.grants ?? {};
  return ownValue(grants, metadata.name);
}

async function advance(deletion: Deletion): Promise<DeletionResult> {
  const { executor, context, entry } = deletion;
  const othersKept = othersKeptFor(deletion);
  const decision = planDeletion({ ...deletion, othersKept, now: context.clock.now() });
  if (decision.type === 'Ask') return await ask(deletion);
  if (decision.type === 'Return') return await giveBack(decision.order, deletion);
  if (decision.type === 'DeleteNode') return await deleteNode(decision, deletion);
  if (decision.type === 'Finish') return await finish(decision, deletion);
  if (decision.type === 'Keep' || decision.type === 'Kept') return await keep(decision, deletion);
  const order = deletion.order ?? entry;
  return await carryOutDecision(decision, { executor, situation: situationOf(deletion, order), context });
}

/** Reads the whole view only for a machine that is kept, or may be. */
function othersKeptFor({ machine, context }: Deletion): readonly Machine[] {
  const { kept, replacement } = machine.status ?? {};
  if (!kept && !replacement?.keepFailed) return [];
  return othersKeptOf(machine, context.view<Machine>(MACHINES).list());
}

async function keep(
  decision: Extract<DeletionDecision, { type: 'Keep' | 'Kept' }>,
  deletion: Deletion,
): Promise<DeletionResult> {
  const { because } = decision;
  const drain = deletion.machine.status?.drain;
  const wait: MachineWait = { step: 'Draining', reason: KEPT_REASON, message: because };
  if (decision.type === 'Kept') {
    const { settle, until } = decision;
    if (settle) await settleGrant(settle, 'Succeeded', deletion);
    return { drain, wait, requeueAt: checkKeptAt(until, deletion) };
  }
  tell(deletion, deletion.context, ['Kept', because]);
  return { drain, wait, kept: decision.kept, isIntent: true };
}

function checkKeptAt(until: Date, { context }: Deletion): Date {
  return new Date(Math.min(+until, context.clock.now().getTime() + CHECK_KEPT_MS));
}

async function ask(deletion: Deletion): Promise<DeletionResult> {
  const { machine, executor, context } = deletion;
  const [answer] = await executor.grants.ask([askOf(deletion)]);
  if (answer?.granted) return await advance({ ...deletion, order: answer });
  // A component that is in work may wait for its drain; a cordon whose grant is over goes.
  const situation = situationOf(deletion, componentOrder(machine));
  return { ...(await carryOutDrain(executor, situation, context)), ...denialResult(answer, context) };
}

function askOf({ machine, node, context }: Deletion): GrantAsk {
  const { name } = machine.metadata;
  return {
    holder: { kind: 'Machine', name, origin: `Machine/${name}` },
    machine: name,
    ...optional('nodeUID', node?.metadata.uid),
    action: 'DeleteMachine',
    risk: 'Machine',
    factsAt: context.clock.now(),
    expectedSeconds: machine.spec.deletion.drainTimeoutSeconds,
  };
}

async function giveBack(order: DrainOrder, deletion: Deletion): Promise<DeletionResult> {
  const { machine, context } = deletion;
  await settleGrant(order, 'Unused', deletion);
  return { drain: machine.status?.drain, requeueAt: soon(context) };
}

async function settleGrant(
  { id, fence }: DrainOrder,
  outcome: 'Succeeded' | 'Unused',
  { executor }: Deletion,
): Promise<void> {
  await executor.grants.settle([{ id, fence, outcome }]);
}

async function deleteNode(
  { order, node, isIncomplete, keepsInstance, because }: Extract<DeletionDecision, { type: 'DeleteNode' }>,
  deletion: Deletion,
): Promise<DeletionResult> {
  const { machine, context } = deletion;
  const drain = machine.status?.drain;
  const denial = await instanceDenial(order, deletion);
  if (denial) return denial;
  // First its instance: pods of a Node that does not answer end with their host.
  const left = keepsInstance ? undefined : await removeInstance(deletion);
  if (left) return left;
  const outcome = await context.delete(NODES, node);
  if (isIncomplete) tell(deletion, context, ['CleanupIncomplete', 'pods may be left on the host']);
  tell(deletion, context, ['NodeDeleted', because]);
  return outcome === 'Deleted' ? { drain, requeueAt: context.clock.now() } : waitForNode(node, deletion);
}

/** Renews the grant, which may have ended since it was observed, before the instance goes. Returns why it must not go yet. */
async function instanceDenial(order: DrainOrder, deletion: Deletion): Promise<DeletionResult | undefined> {
  const { machine, executor, context } = deletion;
  if (isWithoutInstance(machine) || (!deletion.node && !mayHaveInstance(machine))) return undefined;
  const denial = await renewalDenial(executor, order, context);
  return denial && { drain: machine.status?.drain, ...denial };
}

/** A grant for a Node that does not exist any more cannot be renewed. It was renewed before the Node was deleted, after its instance. */
async function denialWithoutNode(order: DrainOrder, deletion: Deletion): Promise<DeletionResult | undefined> {
  return deletion.entry?.nodeUID === undefined ? await instanceDenial(order, deletion) : undefined;
}

/** Nothing runs that its Node stands for. To keep that Node would only keep its zone dark, which then denies the rest of the deletions there. */
function isWithoutInstance({ status }: Machine): boolean {
  return status?.infra?.state === 'Gone';
}

function waitForNode({ metadata: { name } }: KubeObject, { machine, context }: Deletion): DeletionResult {
  const message = `Node ${name} is being deleted: finalizers keep it`;
  const wait: MachineWait = {
    step: 'Draining',
    reason: 'NodeDeleting',
    message,
    blocker: { kind: 'Node', name },
  };
  return { drain: machine.status?.drain, wait, requeueAt: soon(context) };
}

async function removeInstance({ machine, executor, context }: Deletion): Promise<DeletionResult | undefined> {
  const left = await executor.removeInstance(machine, context);
  if (!left) return undefined;
  const { reason, message, requeueAt } = left;
  const wait: MachineWait = { step: 'Draining', reason, message, blocker: providerBlocker(machine) };
  return { drain: machine.status?.drain, wait, requeueAt };
}

/** Settles the grant before the finalizer goes: without its Machine, its end could not be known. */
async function finish(
  { order, because }: Extract<DeletionDecision, { type: 'Finish' }>,
  deletion: Deletion,
): Promise<DeletionResult> {
  const { machine, context } = deletion;
  const denial = order && (await denialWithoutNode(order, deletion));
  if (denial) return denial;
  const left = await removeInstance(deletion);
  if (left) return left;
  if (await hasLateNode(deletion)) return { drain: machine.status?.drain, requeueAt: soon(context) };
  if (order) await settleGrant(order, 'Succeeded', deletion);
  await context.removeFinalizer(MACHINES, machine, FINALIZER_MACHINE);
  context.log.info('machine deleted', { machine: machine.metadata.name, because });
  return { drain: undefined, isFinished: true };
}

/** Its kubelet registered before the instance ended, and our view does not show it yet: nothing would ever delete that Node. */
async function hasLateNode({ machine, node, executor, context }: Deletion): Promise<boolean> {
  if (node || !mayHaveInstance(machine)) return false;
  const { signal } = context;
  try {
    const found = await executor.client.get(NODES, { name: machine.metadata.name }, { signal });
    return ownNode(machine, found) !== undefined;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false;
    throw error;
  }
}

function situationOf({ machine, node, context }: Deletion, order: DrainOrder | undefined): MachineDrainInput {
  return { machine, node: ownNode(machine, node), order, now: context.clock.now() };
}

function soon({ clock }: ReconcileContext): Date {
  return new Date(clock.now().getTime() + RETRY_MS);
}
