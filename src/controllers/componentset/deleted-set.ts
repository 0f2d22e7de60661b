/** Ends what a deleted set has in work on its machines, with its grants; what it installed stays. */
import { DEFENDER_LEDGERS, MACHINE_COMPONENT_SETS, MACHINES } from '../../api/generated/resources.ts';
import type { DefenderLedger, Machine, MachineComponentSet, Rollout } from '../../api/generated/types.ts';
import { LEDGER } from '../../api/names.ts';
import type { ReconcileResult } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { carryOutActions } from './execute/execute.ts';
import type { RolloutGrants } from './execute/permissions.ts';
import { observeRollout } from './observe/observe.ts';
import { planLeft } from './rollout/upkeep/upkeep.ts';

const AGAIN_MS = 5000;

/** Ends the work of the set if it is deleted. Returns undefined if the set exists, and is not being deleted. */
export async function endDeletedSet(
  name: string,
  { grants, context }: { readonly grants: RolloutGrants; readonly context: ReconcileContext },
): Promise<ReconcileResult | undefined> {
  const set = context.view<MachineComponentSet>(MACHINE_COMPONENT_SETS).get(name);
  if (set && set.metadata.deletionTimestamp === undefined) return undefined;
  if (!hasGrants(name, context)) return {};
  const { input } = observeRollout(standIn(name), context);
  const actions = planLeft(input);
  const { failure } = await carryOutActions({ input, actions, grants, context });
  if (failure) throw failure;
  return { requeueAt: new Date(+input.now + AGAIN_MS) };
}

function hasGrants(name: string, context: ReconcileContext): boolean {
  const ledger = context.view<DefenderLedger>(DEFENDER_LEDGERS).get(LEDGER)?.spec.grants ?? {};
  return (
    context
      .view<Machine>(MACHINES)
      .list()
      .some((machine) => isPermittedBy(name, machine)) ||
    Object.values(ledger).some(
      ({ holder, state }) =>
        holder.kind === 'MachineComponentSet' && holder.name === name && state !== 'Settled',
    )
  );
}

function isPermittedBy(name: string, { spec }: Machine): boolean {
  return spec.components.some(({ assignment, grant }) => grant !== undefined && assignment?.set === name);
}

/** Returns a set that selects nothing, so that all machines have left it, with the defaults of the API. */
function standIn(name: string): MachineComponentSet {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponentSet',
    metadata: { name },
    spec: {
      machineSelector: { all: false },
      components: [],
      rollout: ROLLOUT,
      paused: true,
      dryRun: false,
    },
  };
}

const ROLLOUT: Rollout = {
  batches: [1],
  repeatLast: true,
  maxUnavailable: 0,
  preferUnhealthy: true,
  partition: 0,
  newMachinePolicy: 'Stable',
  gate: { soakSeconds: 0, checks: [], approval: 'None' },
  failure: { maxFailed: 0, per: 'Rollout', onFailure: 'Pause' },
  windows: [],
  freezes: [],
  machineTimeoutSeconds: 900,
  progressDeadlineSeconds: 7200,
};
