/** Decides what a drain does with each pod of a node now. Pure. */
import { textAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import type { EvictionAnswers, RefusalReason, RefusedEviction } from './answers.ts';
import {
  type DrainOptions,
  podName,
  priorityOf,
  SKIPPED_BECAUSE,
  type SkipReason,
  skipReason,
  uidOf,
} from './pods.ts';

export interface DrainInput {
  readonly nodeName: string;
  /** Whether the node is cordoned. Other nodes are not drained: they would get new pods, and a person may just have uncordoned this one. */
  readonly isCordoned: boolean;
  readonly kubeletAnswers: boolean;
  readonly pods: readonly KubeObject[];
  readonly answers: EvictionAnswers;
  readonly options: DrainOptions;
  readonly now: Date;
}

export type DrainAction = { readonly pod: KubeObject; readonly because: string } & (
  | { readonly type: 'Evict' }
  | WaitForPod
  | { readonly type: 'Skip'; readonly reason: SkipReason }
);

interface WaitForPod {
  readonly type: 'Wait';
  readonly reason: DrainWaitReason;
  /** The object that has to change before the pod can leave, if it is known. */
  readonly blocker?: DrainBlocker;
  /** The time when the eviction is asked for again. */
  readonly askAt?: Date;
}

export type DrainWaitReason = 'NotCordoned' | 'KubeletSilent' | 'Terminating' | 'Overdue' | RefusalReason;

export interface DrainBlocker {
  readonly kind: 'PodDisruptionBudget' | 'Pod';
  /** The names, each as `namespace/name`. */
  readonly names: readonly string[];
  readonly since: Date;
}

/**
 * The time in which an accepted eviction has to show in the list of pods: it shows in the next one. If it does not for this long, something
 * undid it.
 */
const ACCEPTED_MS = 60_000;
/** The time that a pod has to end after its grace period, before it is reported. */
const OVERDUE_MS = 60_000;

/** Plans an action for each pod of the node. Pods with a lower priority come first, so that what others need leaves last; then by name. */
export function planDrain(input: DrainInput): readonly DrainAction[] {
  return input.pods
    .filter((pod) => textAt(pod, 'spec', 'nodeName') === input.nodeName)
    .map((pod) => ({ pod, priority: priorityOf(pod), key: `${podName(pod)} ${uidOf(pod)}` }))
    .toSorted((a, b) => a.priority - b.priority || (a.key < b.key ? -1 : 1))
    .map(({ pod }) => planPod(pod, input));
}

function planPod(pod: KubeObject, input: DrainInput): DrainAction {
  const skip = skipReason(pod, input.options, input.kubeletAnswers);
  if (skip) return { type: 'Skip', pod, reason: skip, because: SKIPPED_BECAUSE[skip] };
  return planWait(pod, input) ?? planTerminating(pod, input) ?? planAnswered(pod, input) ?? evict(pod);
}

function evict(pod: KubeObject): DrainAction {
  return { type: 'Evict', pod, because: 'the node is drained' };
}

function planWait(pod: KubeObject, { isCordoned, kubeletAnswers }: DrainInput): DrainAction | undefined {
  if (!isCordoned) return { type: 'Wait', pod, reason: 'NotCordoned', because: 'the node is not cordoned' };
  if (kubeletAnswers) return undefined;
  return { type: 'Wait', pod, reason: 'KubeletSilent', because: 'the kubelet does not answer' };
}

function planTerminating(pod: KubeObject, { now }: DrainInput): DrainAction | undefined {
  const { deletionTimestamp } = pod.metadata;
  if (deletionTimestamp === undefined) return undefined;
  const since = new Date(deletionTimestamp);
  if (now.getTime() < since.getTime() + OVERDUE_MS) {
    return { type: 'Wait', pod, reason: 'Terminating', because: `it has to end by ${deletionTimestamp}` };
  }
  return {
    type: 'Wait',
    pod,
    reason: 'Overdue',
    because: `it had to end by ${deletionTimestamp}: check its finalizers and the kubelet`,
    blocker: { kind: 'Pod', names: [podName(pod)], since },
  };
}

function planAnswered(pod: KubeObject, { answers, now }: DrainInput): DrainAction | undefined {
  const answer = answers.get(uidOf(pod));
  if (answer?.kind === 'Accepted') {
    const isRecent = now.getTime() < answer.at.getTime() + ACCEPTED_MS;
    const because = 'its eviction was accepted';
    return isRecent ? { type: 'Wait', pod, reason: 'Terminating', because } : undefined;
  }
  if (!answer || answer.askAt <= now) return undefined;
  const { reason, because, askAt } = answer;
  return { type: 'Wait', pod, reason, because, askAt, ...blockerOf(pod, answer) };
}

/** Returns the blocker of a refusal that needs a change of an object. The other refusals end without one. */
function blockerOf(
  pod: KubeObject,
  { reason, budgets, since }: RefusedEviction,
): { readonly blocker?: DrainBlocker } {
  if (reason !== 'Budget' && reason !== 'SeveralBudgets' && reason !== 'Denied') return {};
  return budgets.length > 0
    ? { blocker: { kind: 'PodDisruptionBudget', names: budgets, since } }
    : { blocker: { kind: 'Pod', names: [podName(pod)], since } };
}
