/** Evicts the pods of the cordoned Node. A PodDisruptionBudget that refuses is an answer: it is named, and never bypassed. */
import type { StepInputs } from '../../../../api/generated/steps.ts';
import type { JobDrain } from '../../../../api/generated/types.ts';
import { readinessOf } from '../../../../api/machine/node-state.ts';
import type { DrainProgress } from '../../../../kube/drain/progress.ts';
import { stepDrain } from '../../../../kube/drain/step.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { RepairWait } from '../../plan/decision.ts';
import { type CentralResult, type CentralRun, stepFailed } from './central-step.ts';

export async function runDrain(run: CentralRun<StepInputs['Drain']>): Promise<CentralResult> {
  const { observation, node, input, ports, context, record } = run;
  const { name } = observation.job.metadata;
  // What another step has reported is not of this one.
  const recorded = record.state === 'Running' ? observation.job.status?.drain : undefined;
  const { signal, clock } = context;
  const { client, answers } = ports;
  const step = await stepDrain(
    { client, evict: (pod, options) => context.evict(pod, options), clock, signal },
    {
      node,
      kubeletAnswers: readinessOf(node) !== 'Unknown',
      options: { deadNode: input.deadNode, ...optional('requests', input.requests) },
      answers: answers.get(name) ?? new Map(),
      ...optional('previous', recorded && previousOf(recorded)),
    },
  );
  answers.set(name, step.answers);
  const { total, evicted, pending, blockedBy, message } = step.progress;
  const drain: JobDrain = { total, evicted, pending, blockedBy };
  if (step.state === 'NotCordoned') {
    return { ...stepFailed('NotCordoned', 'the node is not cordoned'), drain };
  }
  if (step.state !== 'Draining') return { state: 'Succeeded', message, drain };
  return { state: 'Waiting', wait: drainWait(step.progress), requeueAt: step.requeueAt, drain };
}

function previousOf({ total = 0, evicted = 0, blockedBy = [] }: JobDrain): {
  readonly total: number;
  readonly evicted: number;
  readonly blockedBy: readonly string[];
} {
  return { total, evicted, blockedBy };
}

function drainWait({ blocks, message }: DrainProgress): RepairWait {
  const [first] = blocks;
  if (!first) return { reason: 'Draining', message };
  const [namespace = '', name = ''] = first.name.split('/');
  const blocker = { kind: first.kind, name, namespace };
  return { reason: first.kind === 'Pod' ? 'PodBlocked' : first.kind, message, blocker, isBlocked: true };
}
