/** Brings Machines to Ready, as kubenode-machine: conditions, labels and taints of Nodes, drains. Every choice is made in plan.ts and drain.ts. */
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import type { GrantPort } from '../../api/grants.ts';
import { MANAGER_MACHINE, NAMESPACE, PRINCIPAL_MACHINE } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { contentChanged, partChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { holdInForce } from '../../rollout/holds.ts';
import { componentOrder } from './drain.ts';
import { carryOutDrain, type DrainExecutor, type DrainResult } from './execute.ts';
import { createHeartbeats, type Heartbeats, LEASE_READ } from './heartbeats.ts';
import { planNodeSync } from './node-sync.ts';
import { type MachineObservation, SILENT_MS } from './observation.ts';
import { type MachinePlan, planMachine } from './plan.ts';
import { type MachineReport, machineStatus, stallsAt } from './status.ts';

export interface MachineControllerOptions {
  /** As kubenode-machine: lists pods and PodDisruptionBudgets of nodes that are drained. */
  readonly client: Pick<Client, 'pages'>;
  readonly grants: Pick<GrantPort, 'renew'>;
}

const CONDITIONS = [
  'InfraConfigValid',
  'InfraReady',
  'CertificateIssued',
  'AgentReady',
  'NodeReady',
  'NodeSynced',
  'Held',
  'Ready',
  'Progressing',
  'Stalled',
];

export function createMachineController({ client, grants }: MachineControllerOptions): Controller {
  const heartbeats = createHeartbeats();
  const executor: DrainExecutor = { client, grants, answers: new Map(), deadNode: 'Wait' };
  return {
    name: 'machine',
    reads: [
      read(MACHINES, { changed: contentChanged }),
      read(NODES, { keys: ({ metadata }) => [metadata.name], changed: partChanged(partOfNode) }),
      LEASE_READ,
    ],
    writes: [
      'Machine.status.observedGeneration',
      'Machine.status.phase',
      'Machine.status.waiting',
      'Machine.status.node',
      'Machine.status.drain',
      ...CONDITIONS.map((type) => `Machine.status.conditions[${type}]`),
      'Node.metadata.labels[*]',
      'Node.metadata.annotations[*]',
      'Node.spec.taints',
      'Node.spec.unschedulable',
    ],
    evicts: true,
    fieldManager: MANAGER_MACHINE,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_MACHINE },
    reconcile: (name, context) => reconcile(name, { heartbeats, executor, context }),
  };
}

/** Heartbeats of a kubelet trigger no reconcile. */
function partOfNode({ metadata, spec, status }: KubeObject): unknown {
  const ready = listAt(status, 'conditions').find((each) => textAt(each, 'type') === 'Ready');
  return [
    metadata.labels,
    metadata.annotations,
    spec,
    valueAt(ready, 'status'),
    valueAt(ready, 'message'),
    valueAt(status, 'nodeInfo', 'bootID'),
  ];
}

interface Reconcile {
  readonly heartbeats: Heartbeats;
  readonly executor: DrainExecutor;
  readonly context: ReconcileContext;
}

async function reconcile(name: string, parts: Reconcile): Promise<ReconcileResult> {
  const { heartbeats, executor, context } = parts;
  const machine = context.view<Machine>(MACHINES).get(name);
  if (!machine) {
    heartbeats.forget(name);
    executor.answers.delete(name);
    return {};
  }
  const plan = await syncNode(machine, parts);
  const node = context.view(NODES).get(name);
  const situation = { machine, node, order: componentOrder(machine), now: context.clock.now() };
  const result = await carryOutDrain(executor, situation, context);
  if (!result.drain) executor.answers.delete(name);
  await writeStatus(
    { machine, node, plan, ...withoutRequeue(result), now: context.clock.now() },
    result,
    context,
  );
  return optional('requeueAt', requeueAt({ machine, plan, result }, parts));
}

/** First what is declared; then, when nothing else is missing, the start-up taint goes. */
async function syncNode(machine: Machine, parts: Reconcile): Promise<MachinePlan> {
  await writeNode(machine, false, parts.context);
  const plan = planMachine(observe(machine, parts));
  if (!plan.removeStartupTaint) return plan;
  await writeNode(machine, true, parts.context);
  return planMachine(observe(machine, parts));
}

async function writeNode(
  machine: Machine,
  removeStartupTaint: boolean,
  context: ReconcileContext,
): Promise<void> {
  const { name } = machine.metadata;
  const node = context.view(NODES).get(name);
  const hold = holdInForce(machine, node, context.clock.now());
  if (!node || hold?.scope === 'All') return;
  const { operations } = planNodeSync(machine, node, { mayEvict: hold === undefined, removeStartupTaint });
  if (operations.length === 0) return;
  await context.patch(NODES, node, operations);
  context.log.info('node synced', { node: name, paths: operations.map(({ path }) => path) });
}

function observe(machine: Machine, { heartbeats, context }: Reconcile): MachineObservation {
  const { name } = machine.metadata;
  const node = context.view(NODES).get(name);
  const now = context.clock.now();
  const mayEvict = holdInForce(machine, node, now) === undefined;
  const sync = node && planNodeSync(machine, node, { mayEvict, removeStartupTaint: false });
  return { machine, node, heartbeat: heartbeats.of(name, context), ...optional('sync', sync), now };
}

function withoutRequeue({ drain, wait }: DrainResult): Pick<MachineReport, 'drain' | 'wait'> {
  return { ...optional('drain', drain), ...optional('wait', wait) };
}

/** What the next act relies upon is written when this resolves. */
async function writeStatus(
  report: MachineReport,
  { isIntent }: DrainResult,
  context: ReconcileContext,
): Promise<void> {
  const { name } = report.machine.metadata;
  const intent = { metadata: { name }, status: machineStatus(report) };
  if (isIntent) await context.applyStatus(MACHINES, intent);
  else context.reportStatus(MACHINES, intent);
}

interface Outcome {
  readonly machine: Machine;
  readonly plan: MachinePlan;
  readonly result: DrainResult;
}

function requeueAt(outcome: Outcome, parts: Reconcile): Date | undefined {
  const { plan, result } = outcome;
  const now = parts.context.clock.now();
  const late = [silentAt(outcome, parts), lateAt(outcome)].filter((at) => at !== undefined && at > now);
  const moments = [...late, plan.changesAt, result.requeueAt].filter((at) => at !== undefined);
  return moments.length === 0 ? undefined : new Date(Math.min(...moments.map(Number)));
}

function silentAt({ machine }: Outcome, { heartbeats, context }: Reconcile): Date | undefined {
  const heartbeat = heartbeats.of(machine.metadata.name, context);
  return heartbeat && new Date(context.clock.now().getTime() + SILENT_MS - heartbeat.ageMs + 1);
}

function lateAt({ machine, plan, result }: Outcome): Date | undefined {
  const wait = result.wait ?? plan.wait;
  const { waiting } = machine.status ?? {};
  return wait && waiting && stallsAt(machine, wait, waiting);
}
