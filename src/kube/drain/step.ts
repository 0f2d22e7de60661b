/**
 * Runs one step of the drain of a node: lists its pods, plans, sends evictions. A controller calls it again and again, until the node is
 * drained or the controller's own time-out ends. Nothing that has to survive a restart is kept.
 */
import type { Clock } from '../../os/clock.ts';
import type { Client } from '../client/client.ts';
import { isKubeError } from '../client/errors.ts';
import type { ReconcileContext } from '../controller/reconcile-context.ts';
import { PODS } from '../objects/core-kinds.ts';
import { valueAt } from '../objects/json.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { runConcurrently } from '../process/run-concurrently.ts';
import {
  type EvictionAnswer,
  type EvictionAnswers,
  type EvictionRefusal,
  refusalOfError,
  refusalOfOutcome,
  refusedAnswer,
} from './answers.ts';
import { BUDGETS, coveringBudgets } from './budgets.ts';
import { type DrainAction, type DrainInput, planDrain } from './plan.ts';
import { type DrainOptions, uidOf } from './pods.ts';
import {
  type DrainProgress,
  type DrainState,
  drainProgress,
  drainState,
  type PreviousDrain,
} from './progress.ts';

export interface DrainPorts {
  readonly client: Pick<Client, 'pages'>;
  readonly evict: ReconcileContext['evict'];
  readonly clock: Pick<Clock, 'now'>;
  readonly signal: AbortSignal;
}

export interface DrainRequest {
  readonly node: KubeObject;
  readonly kubeletAnswers: boolean;
  readonly options: DrainOptions;
  /** The `answers` of the step before, if this process made it. */
  readonly answers: EvictionAnswers;
  readonly previous?: PreviousDrain;
}

export interface DrainStep {
  readonly state: DrainState;
  readonly progress: DrainProgress;
  readonly actions: readonly DrainAction[];
  readonly answers: EvictionAnswers;
  /** The time to call again, unless the state is an end of the drain. */
  readonly requeueAt: Date;
}

/**
 * The time between two steps: the shortest time after which a refused eviction is asked for again, and soon enough for pods that have
 * ended.
 */
const POLL_MS = 5000;

export async function stepDrain(ports: DrainPorts, request: DrainRequest): Promise<DrainStep> {
  const pods = await listPods(ports, request.node.metadata.name);
  const plan = (answers: EvictionAnswers): readonly DrainAction[] =>
    planDrain(inputOf(request, { pods, answers, now: ports.clock.now() }));

  const due = plan(request.answers).flatMap((action) => (action.type === 'Evict' ? [action.pod] : []));
  const results = await evictAll(ports, due);
  const answers = await answersAfter(ports, request, { pods, results });

  const actions = plan(answers);
  return {
    state: drainState(actions, isCordoned(request)),
    progress: drainProgress(actions, request.previous),
    actions,
    answers,
    requeueAt: new Date(ports.clock.now().getTime() + POLL_MS),
  };
}

type Observed = Pick<DrainInput, 'pods' | 'answers' | 'now'>;

function inputOf(request: DrainRequest, observed: Observed): DrainInput {
  const { node, kubeletAnswers, options } = request;
  return {
    nodeName: node.metadata.name,
    isCordoned: isCordoned(request),
    kubeletAnswers,
    options,
    ...observed,
  };
}

function isCordoned({ node }: DrainRequest): boolean {
  return valueAt(node, 'spec', 'unschedulable') === true;
}

async function listPods({ client, signal }: DrainPorts, nodeName: string): Promise<readonly KubeObject[]> {
  return await listAll(client, PODS, { fieldSelector: `spec.nodeName=${nodeName}`, signal });
}

async function listAll(
  client: DrainPorts['client'],
  resource: Resource,
  options: Parameters<Client['pages']>[1],
): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for await (const { items } of client.pages(resource, options)) objects.push(...items);
  return objects;
}

/** Holds the refusal of each pod that was asked for; undefined when its eviction is under way. */
type Results = ReadonlyMap<KubeObject, EvictionRefusal | undefined>;

/** Sends the evictions. A pod that is refused holds back no other. An overloaded server gets no further eviction in this step. */
async function evictAll({ evict }: DrainPorts, due: readonly KubeObject[]): Promise<Results> {
  const results = new Map<KubeObject, EvictionRefusal | undefined>();
  let isOverloaded = false;
  await runConcurrently(due, async (pod) => {
    if (isOverloaded) return;
    const refusal = await refusalOf(evict(pod));
    results.set(pod, refusal);
    isOverloaded ||= refusal?.reason === 'Overloaded';
  });
  return results;
}

async function refusalOf(eviction: ReturnType<DrainPorts['evict']>): Promise<EvictionRefusal | undefined> {
  try {
    return refusalOfOutcome(await eviction);
  } catch (error) {
    const refusal = refusalOfError(error);
    if (refusal) return refusal;
    throw error;
  }
}

interface Evictions {
  readonly pods: readonly KubeObject[];
  readonly results: Results;
}

/** Returns the answers after this step, only for pods that were listed: the others have left. */
async function answersAfter(
  ports: DrainPorts,
  { answers, previous }: DrainRequest,
  { pods, results }: Evictions,
): Promise<EvictionAnswers> {
  const budgets = await readBudgets(ports, results);
  const now = ports.clock.now();
  return new Map(
    pods.flatMap((pod): [string, EvictionAnswer][] => {
      const uid = uidOf(pod);
      const before = answers.get(uid);
      if (!results.has(pod)) return before ? [[uid, before]] : [];
      const refusal = results.get(pod);
      if (!refusal) return [[uid, { kind: 'Accepted', at: now }]];
      const covering = coveringBudgets(pod, budgets);
      const isKnown = covering.some((name) => previous?.blockedBy.includes(name));
      const knownSince = isKnown ? previous?.blockedSince : undefined;
      return [[uid, refusedAnswer(refusal, { budgets: covering, previous: before, knownSince, now })]];
    }),
  );
}

/** Reads the budgets of the namespaces in which evictions were refused. Budgets that cannot be read are not named, and block nothing. */
async function readBudgets({ client, signal }: DrainPorts, results: Results): Promise<readonly KubeObject[]> {
  const refused = [...results].flatMap(([pod, refusal]) => (refusal ? [pod.metadata.namespace ?? ''] : []));
  const budgets: KubeObject[] = [];
  for (const namespace of new Set(refused)) {
    try {
      budgets.push(...(await listAll(client, BUDGETS, { namespace, signal })));
    } catch (error) {
      if (!isKubeError(error, 'Forbidden', 'TooManyRequests', 'ServerError', 'Timeout')) throw error;
    }
  }
  return budgets;
}
