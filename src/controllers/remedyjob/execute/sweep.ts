/**
 * Removes from a Node and its Machine what a job left there that was deleted by force, and what must not stay on a machine that runs again.
 */
import { DEFENDER_LEDGERS, MACHINES, REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { DefenderLedger, Machine } from '../../../api/generated/types.ts';
import { LEDGER } from '../../../api/names.ts';
import type { ReconcileResult } from '../../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { jobOfGrant } from '../observe/observe.ts';
import { unmarkedStatus } from '../plan/machine-report.ts';
import { planOrphan } from '../plan/orphans.ts';
import { applyMachineStatus } from './machine-status.ts';

/** Grants of jobs that were deleted by force are settled by the Defender. */
const SWEEP_MS = 60_000;

export async function sweepNode(name: string, context: ReconcileContext): Promise<ReconcileResult> {
  await removeMark(context.view<Machine>(MACHINES).get(name), context);
  const node = context.view(NODES).get(name);
  if (!node) return {};
  const now = context.clock.now();
  const plan = planOrphan({
    node,
    machine: context.view<Machine>(MACHINES).get(name),
    ledger: context.view<DefenderLedger>(DEFENDER_LEDGERS).get(LEDGER),
    jobOf: (grant) => jobOfGrant(grant, context),
    now,
  });
  if (plan.type === 'Nothing') return {};
  if (plan.type === 'Wait') return { requeueAt: new Date(now.getTime() + SWEEP_MS) };
  context.log.warn('cordon or taints of a job removed', { node: name, grant: plan.grant });
  await context.patch(NODES, node, plan.operations);
  return { requeueAt: now };
}

/** A mark without its job would keep the MachineSet waiting for a grant that nothing renews. */
async function removeMark(machine: Machine | undefined, context: ReconcileContext): Promise<void> {
  const { job } = machine?.status?.replacement ?? {};
  if (!machine || job === undefined || context.view(REMEDY_OPERATION_JOBS).get(job)) return;
  context.log.warn('mark of a job removed', { machine: machine.metadata.name, job });
  await applyMachineStatus(machine, unmarkedStatus(machine), context);
}
