/** Brings Machines to Ready and deletes them, as kubenode-machine: conditions, labels and taints of Nodes, drains. Every choice is made in plan.ts, drain.ts and deletion.ts. */
import {
  DEFENDER_LEDGERS,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
} from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import { readAgentLeases } from '../../api/machine/agent-lease.ts';
import { machinesOf } from '../../api/machine/certificate-requests.ts';
import { readyCondition } from '../../api/machine/node-state.ts';
import {
  ANNOTATION_MACHINE_UID,
  EVENT_PREFIX,
  FINALIZER_MACHINE,
  LABEL_AGENT_BLOCKED,
  LABEL_HARDWARE,
  MANAGER_MACHINE,
  NAMESPACE,
  PRINCIPAL_MACHINE,
} from '../../api/names.ts';
import { CERTIFICATE_REQUESTS } from '../../kube/auth/certificate-requests.ts';
import type { Client } from '../../kube/client/client.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { contentChanged, partChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { tellStalled } from '../../rollout/stalled.ts';
import { ownNode } from './deletion.ts';
import { type DeletionExecutor } from './execute/deletion.ts';
import { type DrainExecutor, type DrainResult } from './execute/drain.ts';
import { blockLease, carryOutMachine, labelHardware, writeNode } from './execute/execute.ts';
import { removeHost } from './execute/host-removal.ts';
import { statusDelayMs } from './execute/status-delay.ts';
import { createHeartbeats, type Heartbeats } from './heartbeats.ts';
import { createImports, type Imports } from './import/execute/execute.ts';
import type { CleanupCounter } from './import/execute/release.ts';
import type { ImportParts } from './import/execute/steps.ts';
import type { InstanceParts } from './instance/calls.ts';
import { createInstances, type InfraReport, type Instances } from './instance/execute.ts';
import { withImport } from './instance/pooled.ts';
import { type MachineInput, observeMachineState } from './observe.ts';
import { machineAndPeers, observePeers } from './peers/observe.ts';
import { type MachinePlan, OWN_CONDITIONS, planMachine } from './plan.ts';
import { createPowerReads, type PowerParts, type PowerReads } from './power/execute.ts';
import { machineRequeueAt } from './requeue.ts';
import { type MachineReport, machineStatus } from './status.ts';

export interface MachineControllerOptions {
  /**
   * The client that acts as kubenode-machine: it lists pods and PodDisruptionBudgets of nodes that are drained, and reads a Node
   * that a view may not show yet.
   */
  readonly client: Pick<Client, 'pages' | 'get'>;
  readonly grants: DrainExecutor['grants'];
  /** Default: hosts of provider local join by themselves, and no provider is run. */
  readonly instances?: InstanceParts;
  /** Default: no host is imported, and Machines that ask for it tell so. */
  readonly imports?: ImportParts;
  /** Default: no BMC is read. */
  readonly power?: PowerParts;
  /** Counts the hosts that may not be as they were before their import. */
  readonly incompleteCleanups?: CleanupCounter;
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
  imports,
  power,
  incompleteCleanups,
}: MachineControllerOptions): Controller {
  const heartbeats = createHeartbeats();
  const created = createInstances(instances);
  const powers = createPowerReads(power);
  const imported = createImports({
    ...optional('parts', imports),
    ...optional('incomplete', incompleteCleanups),
  });
  const executor: DeletionExecutor = {
    client,
    grants,
    answers: new Map(),
    deadNode: 'Wait',
    removeInstance: (machine, context) =>
      removeHost(machine, { imports: imported, instances: created }, context),
  };
  return {
    name: 'machine',
    reads: [
      read(MACHINES, { keys: machineAndPeers, changed: contentChanged }),
      read(NODES, { keys: ({ metadata }) => [metadata.name], changed: partChanged(partOfNode) }),
      read(CERTIFICATE_REQUESTS, { keys: machinesOf }),
      readAgentLeases(({ metadata }) => [metadata.name]),
      // The grant of a deletion. A denial is asked about again; no other change matters.
      read(DEFENDER_LEDGERS, { keys: () => [] }),
      // The components that a machine without an instance will run: such a machine is reconciled every ten seconds.
      ...(instances.preflight ? COMPONENT_READS : []),
    ],
    triggers: (add) => {
      const ends = [imported.open(add), powers.open(add)];
      return () => {
        for (const end of ends) end();
      };
    },
    creates: ['CertificateSigningRequest'],
    writes: [
      'Machine.status.observedGeneration',
      'Machine.status.phase',
      'Machine.status.waiting',
      'Machine.status.infra',
      'Machine.status.power',
      'Machine.status.silence',
      'Machine.status.probeRequests',
      'Machine.status.import',
      'Machine.status.preflight',
      'Machine.status.node',
      'Machine.status.drain',
      'Machine.status.kept',
      ...OWN_CONDITIONS.map((type) => `Machine.status.conditions[${type}]`),
      `Machine.metadata.finalizers[${FINALIZER_MACHINE}]`,
      'Node.metadata.labels[*]',
      `Lease.metadata.labels[${LABEL_AGENT_BLOCKED}]`,
      'CertificateSigningRequest.spec',
      `CertificateSigningRequest.metadata.annotations[${ANNOTATION_MACHINE_UID}]`,
    ],
    // With jobs: cordons and taints are marked with their owner. With sets: the label is set where it is missing.
    shares: [
      `Machine.metadata.labels[${LABEL_HARDWARE}]`,
      'Node.metadata.annotations[*]',
      'Node.spec.taints',
      'Node.spec.unschedulable',
    ],
    deletes: ['Node'],
    evicts: true,
    fieldManager: MANAGER_MACHINE,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_MACHINE },
    reconcile: (name, context) =>
      reconcile(name, { heartbeats, instances: created, imports: imported, powers, executor, context }),
  };
}

const COMPONENT_READS = [
  read(MACHINE_COMPONENT_SETS, { keys: () => [] }),
  read(MACHINE_COMPONENTS, { keys: () => [] }),
];

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
  readonly imports: Imports;
  readonly powers: PowerReads;
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
  const own = await context.addFinalizer(MACHINES, found, FINALIZER_MACHINE);
  const machine = await labelHardware(own, context);
  await blockLease(machine, context);
  const isDeleting = machine.metadata.deletionTimestamp !== undefined;
  const infra = await ensureInstance(machine, parts);
  const imported = await parts.imports.ensure(withImport(machine, infra.import), context);
  const host = { infraFindings: infra.findings, importFindings: imported.findings };
  const plan = isDeleting ? planNow(machine, host, parts) : await syncNode(machine, host, parts);
  const node = context.view(NODES).get(name);
  const result = await carryOutMachine(executor, { machine, node }, context);
  if (!result.drain) executor.answers.delete(name);
  if (result.isFinished) {
    parts.instances.forget(machine);
    parts.imports.forget(machine);
    parts.powers.forget(machine);
    return {};
  }
  const power = parts.powers.observe(machine, heartbeats.of(machine, context), context);
  const peers = observePeers(machine, heartbeats.of(machine, context), context);
  // Of a Machine that is deleted, only the Node that was observed before is its own.
  const reported = isDeleting ? ownNode(machine, node) : node;
  const report = {
    machine,
    node: reported,
    plan,
    ...withoutRequeue(result),
    ...optional('kept', result.kept),
    ...optional('infra', infra.status),
    ...optional('power', power.status),
    peers: peers.report,
    imported: { ...optional('import', imported.import), ...optional('preflight', imported.preflight) },
  };
  const isIntent = result.isIntent === true || imported.isIntent;
  await writeStatus({ ...report, now: context.clock.now() }, isIntent, context);
  const heartbeat = heartbeats.of(machine, context);
  const outcome = { machine, infra, imported, power, peers, plan, result, heartbeat };
  return optional('requeueAt', machineRequeueAt(outcome, context.clock.now()));
}

/** Writes to the Node what is declared first; then, when nothing else is missing, it removes the start-up taint. */
async function syncNode(machine: Machine, host: HostFindings, parts: Reconcile): Promise<MachinePlan> {
  await writeNode(machine, false, parts.context);
  const plan = planNow(machine, host, parts);
  if (!plan.removeStartupTaint) return plan;
  await writeNode(machine, true, parts.context);
  return planNow(machine, host, parts);
}

type HostFindings = Required<Pick<MachineInput, 'infraFindings' | 'importFindings'>>;

function planNow(machine: Machine, host: HostFindings, { heartbeats, context }: Reconcile): MachinePlan {
  const heartbeat = heartbeats.of(machine, context);
  return planMachine(observeMachineState({ machine, heartbeat, ...host }, context));
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

function withoutRequeue({ drain, wait }: DrainResult): Pick<MachineReport, 'drain' | 'wait'> {
  return { ...optional('drain', drain), ...optional('wait', wait) };
}

/** Writes the status. One that the next act relies upon is written when this resolves. */
async function writeStatus(
  report: MachineReport,
  isIntent: boolean,
  context: ReconcileContext,
): Promise<void> {
  const { name } = report.machine.metadata;
  const intent = { metadata: { name }, status: machineStatus(report) };
  tellStalled(report.machine, intent.status, EVENT_PREFIX[MANAGER_MACHINE], context);
  if (isIntent) await context.applyStatus(MACHINES, intent);
  else context.reportStatus(MACHINES, intent, { delayMs: statusDelayMs(report.machine, intent.status) });
}
