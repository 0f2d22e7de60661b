/** Brings Machines to Ready and deletes them, as kubenode-machine: conditions, labels and taints of Nodes, drains. Every choice is made in plan.ts, drain.ts and deletion.ts. */
import { DEFENDER_LEDGERS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import { readAgentLeases } from '../../api/machine/agent-lease.ts';
import { lastRequestOf, machinesOf } from '../../api/machine/certificate-requests.ts';
import { HEARTBEAT_MS, SILENT_MS } from '../../api/machine/heartbeat.ts';
import { readyCondition } from '../../api/machine/node-state.ts';
import {
  EVENT_PREFIX,
  FINALIZER_MACHINE,
  LABEL_AGENT_BLOCKED,
  MANAGER_MACHINE,
  NAMESPACE,
  NAMESPACE_AGENTS,
  PRINCIPAL_MACHINE,
} from '../../api/names.ts';
import { CERTIFICATE_REQUESTS } from '../../kube/auth/certificate-requests.ts';
import type { Client } from '../../kube/client/client.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { contentChanged, partChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { holdInForce } from '../../rollout/holds.ts';
import { tellStalled } from '../../rollout/stalled.ts';
import { planBlockedLease } from './blocked-lease.ts';
import { ownNode } from './deletion.ts';
import { carryOutDeletion, type DeletionExecutor, type DeletionResult } from './execute/deletion.ts';
import { componentOrder } from './drain.ts';
import { carryOutDrain, type DrainExecutor, type DrainResult } from './execute/drain.ts';
import { createHeartbeats, type Heartbeats } from './heartbeats.ts';
import type { InstanceParts } from './instance/calls.ts';
import { createInstances, type InfraReport, type Instances } from './instance/execute.ts';
import { planNodeSync } from './node/sync.ts';
import type { MachineInput } from './observe.ts';
import { type MachinePlan, OWN_CONDITIONS, planMachine } from './plan.ts';
import { type MachineReport, machineStatus, stallsAt } from './status.ts';

export interface MachineControllerOptions {
  /**
   * The client that acts as kubenode-machine: it lists pods and PodDisruptionBudgets of nodes that are drained, and reads a Node
   * that a view may not show yet.
   */
  readonly client: Pick<Client, 'pages' | 'get'>;
  readonly grants: DrainExecutor['grants'];
  /** Default: hosts of provider local join by themselves, and no provider is run. */
  readonly instances?: InstanceParts;
}

const NO_PROVIDERS: InstanceParts = {
  providers: {},
  clusterUid: '',
  createBootstrap: () => Promise.reject(new Error('no provider is run')),
};

export function createMachineController({
  client,
  grants,
  instances = NO_PROVIDERS,
}: MachineControllerOptions): Controller {
  const heartbeats = createHeartbeats();
  const created = createInstances(instances);
  const executor: DeletionExecutor = {
    client,
    grants,
    answers: new Map(),
    deadNode: 'Wait',
    removeInstance: (machine, context) => created.remove(machine, context),
  };
  return {
    name: 'machine',
    reads: [
      read(MACHINES, { changed: contentChanged }),
      read(NODES, { keys: ({ metadata }) => [metadata.name], changed: partChanged(partOfNode) }),
      read(CERTIFICATE_REQUESTS, { keys: machinesOf }),
      readAgentLeases(({ metadata }) => [metadata.name]),
      // The grant of a deletion. A denial is asked about again; no other change matters.
      read(DEFENDER_LEDGERS, { keys: () => [] }),
    ],
    writes: [
      'Machine.status.observedGeneration',
      'Machine.status.phase',
      'Machine.status.waiting',
      'Machine.status.infra',
      'Machine.status.node',
      'Machine.status.drain',
      ...OWN_CONDITIONS.map((type) => `Machine.status.conditions[${type}]`),
      `Machine.metadata.finalizers[${FINALIZER_MACHINE}]`,
      'Node.metadata.labels[*]',
      `Lease.metadata.labels[${LABEL_AGENT_BLOCKED}]`,
    ],
    // With jobs: cordons and taints are marked with their owner.
    shares: ['Node.metadata.annotations[*]', 'Node.spec.taints', 'Node.spec.unschedulable'],
    deletes: ['Node'],
    evicts: true,
    fieldManager: MANAGER_MACHINE,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_MACHINE },
    reconcile: (name, context) => reconcile(name, { heartbeats, instances: created, executor, context }),
  };
}

/** Heartbeats of a kubelet trigger no reconcile. */
function partOfNode(node: KubeObject): unknown {
  const { metadata, spec, status } = node;
  const ready = readyCondition(node);
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
  readonly instances: Instances;
  readonly executor: DeletionExecutor;
  readonly context: ReconcileContext;
}

async function reconcile(name: string, parts: Reconcile): Promise<ReconcileResult> {
  const { heartbeats, executor, context } = parts;
  const found = context.view<Machine>(MACHINES).get(name);
  if (!found) {
    heartbeats.forget(name, context);
    executor.answers.delete(name);
    return {};
  }
  const machine = await context.addFinalizer(MACHINES, found, FINALIZER_MACHINE);
  await markLease(machine, context);
  const isDeleting = machine.metadata.deletionTimestamp !== undefined;
  const infra = await ensureInstance(machine, parts);
  const plan = isDeleting
    ? planMachine(observe(machine, infra, parts))
    : await syncNode(machine, infra, parts);
  const node = context.view(NODES).get(name);
  const result = isDeleting
    ? await carryOutDeletion(executor, { machine, node }, context)
    : await drainFor(machine, node, parts);
  if (!result.drain) executor.answers.delete(name);
  if (result.isFinished) {
    parts.instances.forget(machine);
    return {};
  }
  // Of a Machine that is deleted, only the Node that was observed before is its own.
  const reported = isDeleting ? ownNode(machine, node) : node;
  const report = {
    machine,
    node: reported,
    plan,
    ...withoutRequeue(result),
    ...optional('infra', infra.status),
  };
  await writeStatus({ ...report, now: context.clock.now() }, result, context);
  return optional('requeueAt', requeueAt({ machine, infra, plan, result }, parts));
}

async function markLease(machine: Machine, context: ReconcileContext): Promise<void> {
  const lease = context.view(LEASES).get(`${NAMESPACE_AGENTS}/${machine.metadata.name}`);
  const operations = lease ? planBlockedLease(machine, lease) : [];
  if (lease && operations.length > 0) await context.patch(LEASES, lease, operations);
}

async function drainFor(
  machine: Machine,
  node: KubeObject | undefined,
  { executor, context }: Reconcile,
): Promise<DeletionResult> {
  const situation = { machine, node, order: componentOrder(machine), now: context.clock.now() };
  return await carryOutDrain(executor, situation, context);
}

/** Writes to the Node what is declared first; then, when nothing else is missing, it removes the start-up taint. */
async function syncNode(machine: Machine, infra: InfraReport, parts: Reconcile): Promise<MachinePlan> {
  await writeNode(machine, false, parts.context);
  const plan = planMachine(observe(machine, infra, parts));
  if (!plan.removeStartupTaint) return plan;
  await writeNode(machine, true, parts.context);
  return planMachine(observe(machine, infra, parts));
}

async function ensureInstance(
  machine: Machine,
  { instances, heartbeats, context }: Reconcile,
): Promise<InfraReport> {
  const { name } = machine.metadata;
  const node = context.view(NODES).get(name);
  const hasJoined =
    machine.status?.agent?.certificateNotAfter !== undefined || heartbeats.of(machine, context) !== undefined;
  return await instances.ensure({ machine, node, hasJoined }, context);
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

function observe(machine: Machine, infra: InfraReport, { heartbeats, context }: Reconcile): MachineInput {
  const { name } = machine.metadata;
  const node = context.view(NODES).get(name);
  const now = context.clock.now();
  const mayEvict = holdInForce(machine, node, now) === undefined;
  const sync = node && planNodeSync(machine, node, { mayEvict, removeStartupTaint: false });
  const heartbeat = heartbeats.of(machine, context);
  const all = context.view(CERTIFICATE_REQUESTS);
  const requests = { agent: lastRequestOf(name, 'Agent', all), kubelet: lastRequestOf(name, 'Kubelet', all) };
  const found = { machine, node, heartbeat, requests, ...optional('sync', sync) };
  return { ...found, infraFindings: infra.findings, now };
}

function withoutRequeue({ drain, wait }: DrainResult): Pick<MachineReport, 'drain' | 'wait'> {
  return { ...optional('drain', drain), ...optional('wait', wait) };
}

/** Writes the status. One that the next act relies upon is written when this resolves. */
async function writeStatus(
  report: MachineReport,
  { isIntent }: DrainResult,
  context: ReconcileContext,
): Promise<void> {
  const { name } = report.machine.metadata;
  const intent = { metadata: { name }, status: machineStatus(report) };
  tellStalled(report.machine, intent.status, EVENT_PREFIX[MANAGER_MACHINE], context);
  if (isIntent) await context.applyStatus(MACHINES, intent);
  else context.reportStatus(MACHINES, intent);
}

interface Outcome {
  readonly machine: Machine;
  readonly infra: InfraReport;
  readonly plan: MachinePlan;
  readonly result: DrainResult;
}

function requeueAt(outcome: Outcome, parts: Reconcile): Date | undefined {
  const { infra, plan, result } = outcome;
  const now = parts.context.clock.now();
  const late = [silentAt(outcome, parts), lateAt(outcome)].filter((at) => at !== undefined && at > now);
  const moments = [...late, infra.requeueAt, plan.changesAt, result.requeueAt].filter(
    (at) => at !== undefined,
  );
  return moments.length === 0 ? undefined : new Date(Math.min(...moments.map(Number)));
}

/**
 * Returns when the silence of the agent has to be checked again. A Lease that was there first proves nothing. The heartbeat
 * after it does, and triggers no reconcile.
 */
function silentAt({ machine }: Outcome, { heartbeats, context }: Reconcile): Date | undefined {
  const heartbeat = heartbeats.of(machine, context);
  if (!heartbeat) return undefined;
  const leftMs = heartbeat.unreportedMs || SILENT_MS - heartbeat.ageMs + 1;
  const isUnproven = leftMs > 0 && !heartbeat.hasChanged;
  return new Date(+context.clock.now() + (isUnproven ? Math.min(leftMs, HEARTBEAT_MS) : leftMs));
}

function lateAt({ machine, plan, result }: Outcome): Date | undefined {
  const wait = result.wait ?? plan.wait;
  const { waiting } = machine.status ?? {};
  return wait && waiting && stallsAt(machine, wait, waiting);
}
