/** Carries out the drain of a machine, one step at a time. Each disruptive step renews the grant first. */
import { DEFENDER_LEDGERS, DEFENDER_POLICIES, MACHINES } from '../../../api/generated/resources.ts';
import type { MachineDrain } from '../../../api/generated/types.ts';
import type { Denial, GrantPort } from '../../../api/grants.ts';
import { readinessOf } from '../../../api/machine/node-state.ts';
import { EVENT_PREFIX, LEDGER, MANAGER_MACHINE } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import type { EvictionAnswers } from '../../../kube/drain/answers.ts';
import type { DrainProgress } from '../../../kube/drain/progress.ts';
import { type DrainStep, stepDrain } from '../../../kube/drain/step.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { type DrainDecision, type DrainOrder, type MachineDrainInput, planMachineDrain } from '../drain.ts';
import type { MachineWait } from '../plan.ts';

export interface DrainExecutor {
  readonly client: Pick<Client, 'pages'>;
  readonly grants: Pick<GrantPort, 'ask' | 'renew' | 'settle'>;
  /** By machine; only an optimization. */
  readonly answers: Map<string, EvictionAnswers>;
  readonly deadNode: 'Wait' | 'Skip';
}

export interface DrainResult {
  /** As it has to be in the status; undefined: there is none. */
  readonly drain: MachineDrain | undefined;
  readonly wait?: MachineWait;
  readonly requeueAt?: Date;
  /** The status has to be written before the next act. */
  readonly isIntent?: boolean;
}

const RETRY_MS = 5000;
/** Also when time alone would change the answer later: people change limits, and other acts end. */
const RETRY_AT_MOST_MS = 30_000;
/** The grant of a set for this very act may not be in our view yet. */
const RETRY_BUSY_MS = 2000;

export async function carryOutDrain(
  executor: DrainExecutor,
  situation: MachineDrainInput,
  context: ReconcileContext,
): Promise<DrainResult> {
  return await carryOutDecision(planMachineDrain(situation), { executor, situation, context });
}

export async function carryOutDecision(decision: DrainDecision, parts: ActParts): Promise<DrainResult> {
  const drain = parts.situation.machine.status?.drain;
  if (isAct(decision)) return await act(decision, parts);
  if (decision.type === 'Wait') return { drain, wait: decision.wait };
  if (decision.type === 'Record') return { drain: decision.drain, isIntent: true };
  return { drain: decision.type === 'End' ? undefined : drain };
}

function isAct(decision: DrainDecision): decision is DrainAct {
  return decision.type === 'Cordon' || decision.type === 'Uncordon' || decision.type === 'Evict';
}

type DrainAct = Extract<DrainDecision, { type: 'Cordon' | 'Uncordon' | 'Evict' }>;

interface ActParts {
  readonly executor: DrainExecutor;
  readonly situation: MachineDrainInput;
  readonly context: ReconcileContext;
}

async function act(decision: DrainAct, { executor, situation, context }: ActParts): Promise<DrainResult> {
  const { machine, node, order } = situation;
  const drain = machine.status?.drain;
  if (!node) return { drain };
  if (decision.type !== 'Uncordon' && order) {
    const denial = await renewalDenial(executor, order, context);
    if (denial) return { drain, ...denial };
  }
  if (decision.type === 'Evict') return await evict(executor, { ...situation, node }, context);
  await context.patch(NODES, node, decision.operations);
  tell(situation, context, [`${decision.type}ed`, decision.because]);
  // The record stays until the Node is observed without the cordon.
  return { drain, requeueAt: context.clock.now() };
}

export async function renewalDenial(
  { grants }: DrainExecutor,
  { id, fence }: DrainOrder,
  context: ReconcileContext,
): Promise<DenialResult | undefined> {
  const [answer] = await grants.renew([{ id, fence }]);
  return answer?.granted ? undefined : denialResult(answer, context);
}

type DenialResult = Required<Pick<DrainResult, 'wait' | 'requeueAt'>>;

export function denialResult(denial: Denial | undefined, context: ReconcileContext): DenialResult {
  const { reason, message, retryAt } = denial ?? { reason: 'LedgerUnavailable', message: 'no answer' };
  const blocker = denialBlocker(denial);
  const wait: MachineWait = {
    step: 'Draining',
    reason: 'GrantDenied',
    message: `${reason}: ${message}`,
    blocker,
  };
  const retryMs = reason === 'NodeBusy' ? RETRY_BUSY_MS : RETRY_MS;
  const nowMs = context.clock.now().getTime();
  const requeueMs = Math.min(Math.max(retryAt?.getTime() ?? 0, nowMs + retryMs), nowMs + RETRY_AT_MOST_MS);
  return { wait, requeueAt: new Date(requeueMs) };
}

/** The policy that refuses, or the ledger that has no answer or another grant. */
function denialBlocker(denial: Denial | undefined): NonNullable<MachineWait['blocker']> {
  return denial?.policy === undefined
    ? { kind: DEFENDER_LEDGERS.kind, name: LEDGER }
    : { kind: DEFENDER_POLICIES.kind, name: denial.policy };
}

async function evict(
  { client, answers, deadNode }: DrainExecutor,
  situation: MachineDrainInput & { readonly node: KubeObject },
  context: ReconcileContext,
): Promise<DrainResult> {
  const { machine, node } = situation;
  const { name } = machine.metadata;
  const recorded = machine.status?.drain;
  const { signal, clock } = context;
  const step = await stepDrain(
    { client, evict: (pod, options) => context.evict(pod, options), clock, signal },
    {
      node,
      kubeletAnswers: readinessOf(node) !== 'Unknown',
      options: { deadNode },
      answers: answers.get(name) ?? new Map(),
      ...(recorded ? { previous: previousOf(recorded) } : {}),
    },
  );
  answers.set(name, step.answers);
  const isOver = step.state === 'Drained' || step.state === 'Skipped';
  if (isOver) tell(situation, context, ['Drained', step.progress.message]);
  const drain = drainStatus(recorded, step, isOver);
  if (isOver) return { drain, requeueAt: clock.now() };
  return { drain, wait: drainWait(step.progress), requeueAt: step.requeueAt };
}

function previousOf({ total = 0, evicted = 0, blockedBy = [] }: MachineDrain): {
  readonly total: number;
  readonly evicted: number;
  readonly blockedBy: readonly string[];
} {
  return { total, evicted, blockedBy };
}

function drainStatus(
  recorded: MachineDrain | undefined,
  { progress: { total, evicted, pending, blockedBy } }: DrainStep,
  isOver: boolean,
): MachineDrain {
  const state = isOver ? 'Drained' : 'Draining';
  return { ...recorded, state, total, evicted, pending, blockedBy };
}

function drainWait({ blocks, message }: DrainProgress): MachineWait {
  const [first] = blocks;
  if (!first) return { step: 'Draining', reason: 'Evicting', message };
  const [namespace = '', name = ''] = first.name.split('/');
  return { step: 'Draining', reason: first.kind, message, blocker: { kind: first.kind, name, namespace } };
}

export function tell(
  { machine }: Pick<MachineDrainInput, 'machine'>,
  context: ReconcileContext,
  [word, because]: readonly [word: string, because: string],
): void {
  const { name } = machine.metadata;
  context.log.info('machine drain', { machine: name, step: word, because });
  const about = context.view(MACHINES).get(name) ?? machine;
  const reason = `${EVENT_PREFIX[MANAGER_MACHINE]}${word}`;
  context.event(about, { type: 'Normal', reason, action: 'Drain', note: because });
}
