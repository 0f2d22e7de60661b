/** Carries out RemedyOperationJobs, as kubenode-remedyjob. Every choice is made in plan.ts. */
import {
  DEFENDER_LEDGERS,
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import type { DefenderLedger, Machine, NodeRemedier, RemedyOperationJob } from '../../api/generated/types.ts';
import type { GrantPort } from '../../api/grants.ts';
import {
  FINALIZER_SETTLE,
  LEDGER,
  MANAGER_REMEDYJOB,
  NAMESPACE,
  PRINCIPAL_REMEDYJOB,
} from '../../api/names.ts';
import { bootIdOf } from '../../api/status/step-records.ts';
import type { Client } from '../../kube/client/client.ts';
import { type Controller, type ReconcileResult, read } from '../../kube/controller/controller.ts';
import { contentChanged, partChanged } from '../../kube/controller/predicates.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import type { EvictionAnswers } from '../../kube/drain/answers.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { EventAnswers } from '../../providers/event-answers.ts';
import type { PowerSwitches } from '../../providers/power.ts';
import type { LiveFacts } from '../../rules/live/live-facts.ts';
import type { NodeFacts } from '../../rules/live/node-facts.ts';
import { carryOutJob } from './execute/execute.ts';
import { createApprovals } from './execute/steps/approval.ts';
import type { StepPorts } from './execute/steps/central-step.ts';
import { sweepNode } from './execute/sweep.ts';
import type { RemedyMetrics } from './metrics.ts';
import { type JobInput, jobOfGrant, observeJob } from './observe/observe.ts';
import { createJobEvaluator, type JobEvaluator } from './observe/rule.ts';
import { markGrants } from './plan/orphans.ts';
import { planJob } from './plan/plan.ts';

export interface RemedyJobControllerOptions {
  /** As kubenode-remedyjob: lists Pods and PodDisruptionBudgets of nodes that are drained, and reads Nodes that are switched off. */
  readonly client: Pick<Client, 'pages' | 'get'>;
  readonly switches: PowerSwitches;
  readonly eventAnswers: EventAnswers;
  readonly grants: Pick<GrantPort, 'ask' | 'renew' | 'settle'>;
  readonly facts: NodeFacts & Pick<LiveFacts, 'onChange'>;
  readonly metrics?: RemedyMetrics;
}

const STATUS_FIELDS = [
  'observedGeneration',
  'phase',
  'conditions',
  'waiting',
  'grant',
  'release',
  'steps',
  'drain',
  'replacement',
  'outcome',
  'timeline',
];

export function createRemedyJobController(options: RemedyJobControllerOptions): Controller {
  const active = new Map<string, Set<string>>();
  const jobsOn = ({ metadata }: KubeObject): Iterable<string> => active.get(metadata.name) ?? [];
  const parts: ControllerParts = { ...options, active, answers: new Map(), evaluator: undefined };
  return {
    name: 'remedyjob',
    reads: [
      read<RemedyOperationJob>(REMEDY_OPERATION_JOBS, { keys: keysOfJob, changed: contentChanged }),
      read<Machine>(MACHINES, {
        keys: (machine) => [
          ...jobsOn(machine),
          ...(machine.status?.replacement ? [nodeKey(machine.metadata.name)] : []),
        ],
        changed: partChanged(partOfMachine),
      }),
      read(NODES, {
        keys: (node) => [
          ...jobsOn(node),
          ...(markGrants(node).length > 0 ? [nodeKey(node.metadata.name)] : []),
        ],
        changed: partChanged(partOfNode),
      }),
      // The rule that must not be refuted, answers of people, and what a provider announces: all are looked at whenever a job goes on.
      read(NODE_REMEDIERS, { keys: () => [] }),
      read(MAINTENANCE_EVENTS, { keys: () => [] }),
      read(DEFENDER_LEDGERS, { keys: () => [] }),
    ],
    // What only the Machine shows. Facts that stay the same concern no step and no verification.
    triggers: (trigger) =>
      options.facts.onChange(({ machine, silentMs }) => {
        if (silentMs === undefined) for (const job of active.get(machine) ?? []) trigger(job);
      }),
    writes: [
      ...STATUS_FIELDS.map((field) => `RemedyOperationJob.status.${field}`),
      'Machine.status.repairs',
      'Machine.status.replacement',
      'Machine.status.conditions[NeedsPerson]',
    ],
    // With the controller of rules, which creates jobs, and with that of Machines.
    shares: [
      `RemedyOperationJob.metadata.finalizers[${FINALIZER_SETTLE}]`,
      'Node.metadata.annotations[*]',
      'Node.spec.taints',
      'Node.spec.unschedulable',
    ],
    evicts: true,
    fieldManager: MANAGER_REMEDYJOB,
    serviceAccount: { namespace: NAMESPACE, name: PRINCIPAL_REMEDYJOB },
    reconcile: async (key, context) =>
      key.startsWith(NODE_KEY)
        ? await sweepNode(key.slice(NODE_KEY.length), context)
        : await reconcile(key, parts, context),
  };
}

/** No job has a name like this. */
const NODE_KEY = 'node/';

function nodeKey(name: string): string {
  return `${NODE_KEY}${name}`;
}

/** A job that is removed by force leaves its cordon and taints on the Node. */
function keysOfJob({ metadata, spec }: RemedyOperationJob): readonly string[] {
  return [metadata.name, nodeKey(spec.machine.name)];
}

function partOfMachine({ metadata, spec, status }: Machine): unknown {
  return [metadata.annotations, spec, status?.replacement, status?.kept];
}

/** Heartbeats of a kubelet trigger no reconcile. */
function partOfNode(node: KubeObject): unknown {
  const { metadata, spec } = node;
  const conditions = listAt(node, 'status', 'conditions').map((each) => [
    textAt(each, 'type'),
    textAt(each, 'status'),
  ]);
  return [metadata.annotations, spec, bootIdOf(node), conditions];
}

interface ControllerParts extends RemedyJobControllerOptions {
  /** By machine: jobs that a change of it concerns. */
  readonly active: Map<string, Set<string>>;
  readonly answers: Map<string, EvictionAnswers>;
  evaluator: JobEvaluator | undefined;
}

async function reconcile(
  name: string,
  parts: ControllerParts,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const observation = await observeNamed(name, parts, context);
  if (!observation) {
    forget(name, parts);
    return {};
  }
  const { job } = observation;
  follow(job, parts);
  const remedier = remedierOf(job, context);
  const decision = planJob(observation);
  if (decision.type === 'Nothing') forget(name, parts);
  else parts.metrics?.began(job);
  const ports: StepPorts = {
    ...portsFor(remedier, parts, context),
    lookAgain: async () => await observeNamed(name, parts, context),
  };
  const { grants, metrics } = parts;
  return await carryOutJob(decision, { observation, grants, metrics, ports, context });
}

function remedierOf({ spec }: RemedyOperationJob, context: ReconcileContext): NodeRemedier | undefined {
  return context.view<NodeRemedier>(NODE_REMEDIERS).get(spec.cause.remedier);
}

/** Returns what the job is judged by now; undefined: it was deleted. */
async function observeNamed(
  name: string,
  parts: ControllerParts,
  context: ReconcileContext,
): Promise<JobInput | undefined> {
  const job = context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS).get(name);
  if (!job) return undefined;
  parts.evaluator ??= createJobEvaluator(parts.facts, context.log);
  return await observeJob(job, remedierOf(job, context), { evaluator: parts.evaluator, context });
}

function portsFor(
  remedier: NodeRemedier | undefined,
  { client, switches, eventAnswers, answers, grants }: ControllerParts,
  context: ReconcileContext,
): Omit<StepPorts, 'lookAgain'> {
  const ledger = (): DefenderLedger | undefined => context.view<DefenderLedger>(DEFENDER_LEDGERS).get(LEDGER);
  return {
    client,
    switches,
    eventAnswers,
    answers,
    remedier,
    approvals: createApprovals(grants, ledger),
    jobOfGrant: (id) => jobOfGrant(id, context),
  };
}

/** Follows its machine, and the one that takes its place. */
function follow({ metadata, spec, status }: RemedyOperationJob, { active }: ControllerParts): void {
  const { machine } = status?.replacement ?? {};
  for (const name of [spec.machine.name, ...(machine === undefined ? [] : [machine])]) {
    const jobs = active.get(name) ?? new Set();
    active.set(name, jobs.add(metadata.name));
  }
}

function forget(name: string, { active, answers }: ControllerParts): void {
  answers.delete(name);
  for (const [machine, jobs] of active) {
    if (jobs.delete(name) && jobs.size === 0) active.delete(machine);
  }
}
