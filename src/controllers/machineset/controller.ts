/** Keeps the machines of MachineSets, as kubenode-machineset. Every choice is made in plan.ts. */
import { DEFENDER_LEDGERS, MACHINE_SETS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineSet, MachineSetStatus } from '../../api/generated/types.ts';
import type { GrantPort } from '../../api/grants.ts';
import {
  EVENT_PREFIX,
  FINALIZER_MACHINESET,
  LABEL_MACHINESET,
  MANAGER_MACHINESET,
  NAMESPACE,
  PRINCIPAL_MACHINESET,
} from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { anyOf, partChanged, specOrConditionsChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { optional } from '../../kube/objects/optional.ts';
import { tellStalled } from '../../rollout/stalled.ts';
import type { MachineSetPlan } from './actions.ts';
import { carryOut } from './execute.ts';
import { listMachineSet, observeMachineSet } from './observe.ts';
import { planMachineSet } from './plan.ts';
import { requeueAt } from './requeue.ts';
import { machineSetStatus, type StatusInput } from './status.ts';

export interface MachineSetControllerOptions {
  /** Lists machines before one is deleted. */
  readonly client: Pick<Client, 'pages'>;
  readonly grants: Pick<GrantPort, 'ask' | 'renew' | 'settle'>;
}

/** A reconcile judges all machines of a set: of a thousand that join, each one with many changes, it runs four times a second. */
const GATHER_MS = 250;
const MACHINE_CHANGED = anyOf<Machine>(
  specOrConditionsChanged,
  partChanged(({ status }) => [status?.replacement, status?.kept]),
);

export function createMachineSetController(options: MachineSetControllerOptions): Controller {
  return {
    name: 'machineset',
    reads: [
      read(MACHINE_SETS, { changed: specOrConditionsChanged }),
      read(MACHINES, { keys: setsOf, changed: MACHINE_CHANGED, gatherMs: GATHER_MS }),
      // What matters of a Node comes with a condition of its Machine.
      read(NODES, { keys: () => [] }),
      read(DEFENDER_LEDGERS, { keys: () => [] }),
    ],
    writes: [
      'Machine.metadata.ownerReferences',
      'Machine.spec.host',
      'Machine.spec.node',
      'Machine.spec.deletion',
      'MachineSet.status',
      `MachineSet.metadata.finalizers[${FINALIZER_MACHINESET}]`,
    ],
    // With the machine controller, which sets one label where it is missing; the rest of a Machine of provider clusterapi is that of its controller.
    shares: ['Machine.metadata.labels', 'Machine.spec.infra', 'Machine.spec.zone'],
    creates: ['Machine'],
    deletes: ['Machine'],
    fieldManager: MANAGER_MACHINESET,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_MACHINESET },
    reconcile: (name, context) => reconcile(name, { ...options, context }),
  };
}

/** The set that its label names, and the one that owns it. */
function setsOf({ metadata }: Machine): readonly string[] {
  const owners = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === 'MachineSet');
  const label = metadata.labels?.[LABEL_MACHINESET];
  return [...owners.map(({ name }) => name), ...(label === undefined ? [] : [label])];
}

interface Reconcile extends MachineSetControllerOptions {
  readonly context: ReconcileContext;
}

async function reconcile(name: string, parts: Reconcile): Promise<ReconcileResult> {
  const { grants, context } = parts;
  const found = context.view(MACHINE_SETS).get(name);
  if (!found) return {};
  const set = await context.addFinalizer(MACHINE_SETS, found, FINALIZER_MACHINESET);
  const plan = await decide(set, parts);
  if (plan.isFinished) {
    await context.removeFinalizer(MACHINE_SETS, set, FINALIZER_MACHINESET);
    return {};
  }
  await announce(set, plan, context);
  const { denials, failure } = await carryOut({ set, plan, grants, context });
  const after = plan.actions.length === 0 ? plan : planMachineSet(observeMachineSet(set, context));
  const outcome = { plan: after, denials, now: context.clock.now() };
  const status = await report(set, outcome, context);
  if (failure) throw failure;
  return optional('requeueAt', status && requeueAt({ set, ...outcome }, status));
}

/** Plans again by what the API server has before a machine is created or deleted: the view may be late. */
async function decide(set: MachineSet, { client, context }: Reconcile): Promise<MachineSetPlan> {
  const plan = planMachineSet(observeMachineSet(set, context));
  if (!plan.actions.some((action) => action.type === 'Create' || action.type === 'Delete')) return plan;
  return planMachineSet(await listMachineSet(set, client, context));
}

/** People see the action before it begins, and a storm guard that holds survives a restart. */
async function announce(set: MachineSet, plan: MachineSetPlan, context: ReconcileContext): Promise<void> {
  if (plan.actions.length === 0 && plan.replacement?.isAnnounced !== false) return;
  const { plannedAction } = machineSetStatus({ set, plan, denials: [], now: context.clock.now() });
  const { name } = set.metadata;
  const status = { conditions: [], ...set.status, ...optional('plannedAction', plannedAction) };
  await context.applyStatus(MACHINE_SETS, { metadata: { name }, status });
}

/** Undefined: the set was deleted meanwhile. */
async function report(
  { metadata: { name } }: MachineSet,
  outcome: Omit<StatusInput, 'set'>,
  context: ReconcileContext,
): Promise<MachineSetStatus | undefined> {
  const set = context.view<MachineSet>(MACHINE_SETS).get(name);
  if (!set) return undefined;
  const status = machineSetStatus({ set, ...outcome });
  tellStalled(set, status, EVENT_PREFIX[MANAGER_MACHINESET], context);
  const intent = { metadata: { name }, status };
  // The next reconcile finds the machine that did not start no more, and has to know that one did not.
  if (isFailing(status) && !isFailing(set.status)) await context.applyStatus(MACHINE_SETS, intent);
  else context.reportStatus(MACHINE_SETS, intent);
  return status;
}

function isFailing(status: MachineSetStatus | undefined): boolean {
  const stalled = conditionOf(status?.conditions, 'Stalled');
  return stalled?.status === 'True' && stalled.reason === 'StartupFailing';
}
