/** Carries out what is decided for a machine: its label, its Lease, its Node, and its drain or its deletion. */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import { NAMESPACE_AGENTS } from '../../../api/names.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { LEASES } from '../../../kube/leader/record.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { holdInForce } from '../../../rollout/holds.ts';
import { planBlockedLease } from '../blocked-lease.ts';
import { componentOrder } from '../drain.ts';
import { planHardwareLabel } from '../hardware.ts';
import { isInMaintenance } from '../node/cordon.ts';
import { planNodeSync } from '../node/sync.ts';
import {
  carryOutDeletion,
  type DeletionExecutor,
  type DeletionInput,
  type DeletionResult,
} from './deletion.ts';
import { carryOutDrain } from './drain.ts';

/** Labels the Lease of an agent that is blocked, or removes the label. */
export async function blockLease(machine: Machine, context: ReconcileContext): Promise<void> {
  const lease = context.view(LEASES).get(`${NAMESPACE_AGENTS}/${machine.metadata.name}`);
  const operations = lease ? planBlockedLease(machine, lease) : [];
  if (lease && operations.length > 0) await context.patch(LEASES, lease, operations);
}

/** Resolves with the machine that has the label of its hardware, where that is known. */
export async function labelHardware(machine: Machine, context: ReconcileContext): Promise<Machine> {
  const operations = planHardwareLabel(machine);
  return operations.length > 0 ? await context.patch(MACHINES, machine, operations) : machine;
}

export async function writeNode(
  machine: Machine,
  removeStartupTaint: boolean,
  context: ReconcileContext,
): Promise<void> {
  const { name } = machine.metadata;
  const node = context.view(NODES).get(name);
  const hold = holdInForce(machine, node, context.clock.now());
  if (!node || hold?.scope === 'All') return;
  const { operations } = planNodeSync(machine, node, {
    mayEvict: hold === undefined,
    removeStartupTaint,
    isInMaintenance: isInMaintenance(node),
  });
  if (operations.length === 0) return;
  await context.patch(NODES, node, operations);
  context.log.info('node synced', { node: name, paths: operations.map(({ path }) => path) });
}

/** Takes the next step of the deletion of a machine, or of the drain that its components wait for. */
export async function carryOutMachine(
  executor: DeletionExecutor,
  input: DeletionInput,
  context: ReconcileContext,
): Promise<DeletionResult> {
  const { machine } = input;
  if (machine.metadata.deletionTimestamp !== undefined) {
    return await carryOutDeletion(executor, input, context);
  }
  const situation = { ...input, order: componentOrder(machine), now: context.clock.now() };
  return await carryOutDrain(executor, situation, context);
}
