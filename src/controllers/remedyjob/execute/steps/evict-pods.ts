/**
 * Evicts the pods of the Node that request most of one resource, one after the other. The pod that is next is recorded before it
 * is evicted, so that a restart evicts no further one in its place.
 */
import type { StepInputs } from '../../../../api/generated/steps.ts';
import type { JobDrain } from '../../../../api/generated/types.ts';
import { refusalOfError, refusalOfOutcome } from '../../../../kube/drain/answers.ts';
import { BUDGETS, coveringBudgets } from '../../../../kube/drain/budgets.ts';
import { podName } from '../../../../kube/drain/pods.ts';
import { PODS } from '../../../../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../kube/objects/object.ts';
import type { RepairWait } from '../../plan/decision.ts';
import { type CentralResult, type CentralRun, stepSucceeded } from './central-step.ts';
import { largestPods } from './largest-pods.ts';

const POLL_MS = 5000;

export async function runEvictPods(run: CentralRun<StepInputs['EvictPods']>): Promise<CentralResult> {
  const { observation, node, record, input } = run;
  const { evicted, target } = recordedProgress(run);
  const pods = await listAll(run, PODS, { fieldSelector: `spec.nodeName=${node.metadata.name}` });
  const startedAt = new Date(record.startedAt ?? observation.now);
  const candidates = largestPods(pods, input.by, startedAt);
  if (target !== undefined) {
    const pod = candidates.find((each) => podName(each) === target);
    return pod ? await evict(run, pod, evicted) : next(run, evicted + 1, undefined);
  }
  const chosen = evicted < input.top ? candidates[0] : undefined;
  if (!chosen) {
    const message = `${evicted} pods evicted, by their requests of ${input.by}`;
    return { ...stepSucceeded(message), drain: progress(evicted, undefined) };
  }
  return next(run, evicted, podName(chosen));
}

/** Returns the recorded progress of this step. What another step has reported does not count. */
function recordedProgress({ observation, record }: CentralRun): {
  readonly evicted: number;
  readonly target: string | undefined;
} {
  const drain = record.state === 'Running' ? observation.job.status?.drain : undefined;
  return { evicted: drain?.evicted ?? 0, target: drain?.blockedBy?.[0] };
}

/** Records the pod that the next reconcile evicts. */
function next({ observation }: CentralRun, evicted: number, target: string | undefined): CentralResult {
  const message = target === undefined ? `${evicted} pods evicted` : `Pod ${target} is evicted next`;
  return {
    state: 'Waiting',
    wait: { reason: 'Evicting', message },
    requeueAt: observation.now,
    drain: progress(evicted, target),
  };
}

async function evict(run: CentralRun, pod: KubeObject, evicted: number): Promise<CentralResult> {
  const { context, observation } = run;
  const name = podName(pod);
  const drain = progress(evicted, name);
  const requeueAt = new Date(observation.now.getTime() + POLL_MS);
  const refusal = await context
    .evict(pod)
    .then(refusalOfOutcome)
    .catch((error: unknown) => {
      const found = refusalOfError(error);
      if (found) return found;
      throw error;
    });
  if (!refusal) return next(run, evicted + 1, undefined);
  return { state: 'Waiting', wait: await refusedWait(run, pod, refusal.because), requeueAt, drain };
}

async function refusedWait(run: CentralRun, pod: KubeObject, because: string): Promise<RepairWait> {
  const { namespace = '', name } = pod.metadata;
  const [budget] = coveringBudgets(pod, await listAll(run, BUDGETS, { namespace }));
  const blocker = budget
    ? { kind: 'PodDisruptionBudget', name: budget.slice(namespace.length + 1), namespace }
    : { kind: 'Pod', name, namespace };
  const reason = budget ? 'PodDisruptionBudget' : 'PodBlocked';
  return { reason, message: `${podName(pod)}: ${because}`, blocker, isBlocked: true };
}

function progress(evicted: number, target: string | undefined): JobDrain {
  const pending = target === undefined ? 0 : 1;
  return { total: evicted + pending, evicted, pending, blockedBy: target === undefined ? [] : [target] };
}

/** Lists all pages, as kubenode-remedyjob. */
export async function listAll(
  { ports, context }: Pick<CentralRun, 'ports' | 'context'>,
  resource: Resource,
  options: { readonly fieldSelector?: string; readonly namespace?: string },
): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for await (const { items } of ports.client.pages(resource, { ...options, signal: context.signal })) {
    objects.push(...items);
  }
  return objects;
}
