/** Judges the pods of a member: whether one serves, and what keeps it from it. Pure. */
import { listAt, parseRecord, textAt, valueAt } from '../../../../../kube/objects/json.ts';
import type { KubeObject, OwnerReference } from '../../../../../kube/objects/object.ts';
import type { MemberProblem } from '../../driver.ts';
import type { PlaneObjects } from '../hub.ts';
import { memberOfLabels, type WorkloadMember } from '../names.ts';
import { isPodEdited } from './templates.ts';

/** A pod is scheduled in less where there is room, and its image pulled at once where it is there. */
const PATIENCE_MS = 10_000;
/** A container that ended twice will end again. */
const CRASHES = 2;
const MAX_LINE = 400;

export const NO_START = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Returns the pods that the workload of the member made. One that only has its labels is somebody else's. */
export function podsOfMember(
  { pods, workloads }: Pick<PlaneObjects, 'pods' | 'workloads'>,
  member: WorkloadMember,
): readonly KubeObject[] {
  const uid = workloads.get(member)?.metadata.uid;
  return pods.filter(
    ({ metadata }) =>
      memberOfLabels(metadata.labels) === member &&
      metadata.ownerReferences?.some((owner) => owner.controller === true && isMadeBy(owner, member, uid)),
  );
}

/** The name of a ReplicaSet is that of its Deployment with a hash. */
function isMadeBy(owner: OwnerReference, member: WorkloadMember, uid: string | undefined): boolean {
  if (owner.kind === 'ReplicaSet') return owner.name.startsWith(`${member}-`);
  return owner.kind === 'StatefulSet' && (uid === undefined || owner.uid === uid);
}

/**
 * Returns the pods of the member that have not ended. One that is being deleted may still run. One that was evicted never runs again, and a
 * ReplicaSet leaves it as an object.
 */
export function remainingPods(
  objects: Pick<PlaneObjects, 'pods' | 'workloads'>,
  member: WorkloadMember,
): readonly KubeObject[] {
  return podsOfMember(objects, member).filter((pod) => !hasEnded(pod));
}

function hasEnded(pod: KubeObject): boolean {
  return ['Failed', 'Succeeded'].includes(textAt(pod, 'status', 'phase') ?? '');
}

/** Returns the pods that run or are to run. */
export function livingPods(pods: readonly KubeObject[]): readonly KubeObject[] {
  return pods.filter((pod) => pod.metadata.deletionTimestamp === undefined && !hasEnded(pod));
}

/** Returns the pod that counts: the newest that is not being deleted. */
export function currentPod(pods: readonly KubeObject[]): KubeObject | undefined {
  return livingPods(pods).toSorted((a, b) => (createdAt(a) < createdAt(b) ? 1 : -1))[0];
}

function createdAt({ metadata }: KubeObject): string {
  return metadata.creationTimestamp ?? '';
}

export function isPodReady(pod: KubeObject): boolean {
  return conditionIn(pod, 'Ready')?.status === 'True';
}

interface HubCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export function conditionIn(object: KubeObject, type: string): HubCondition | undefined {
  const conditions = listAt(object, 'status', 'conditions') as readonly HubCondition[];
  return conditions.find((each) => each.type === type);
}

/** Which container it is: a restart in the same pod has another number. */
export function podIdentity(pod: KubeObject): string {
  return `${pod.metadata.uid ?? ''} ${restarts(pod)}`;
}

export function podAddress(pod: KubeObject): string | undefined {
  return textAt(pod, 'status', 'podIP');
}

/** Returns since when it is ready, or is not. */
export function readinessChangedAt(pod: KubeObject): Date | undefined {
  const changed = conditionIn(pod, 'Ready')?.lastTransitionTime ?? pod.metadata.creationTimestamp;
  return changed === undefined ? undefined : new Date(changed);
}

function container(pod: KubeObject): unknown {
  return listAt(pod, 'status', 'containerStatuses')[0];
}

function restarts(pod: KubeObject): number {
  const count = valueAt(container(pod), 'restartCount');
  return typeof count === 'number' ? count : 0;
}

/** The end of the log of the container that ended last. Undefined: none has. */
export function lastWords(pod: KubeObject): string | undefined {
  const found = container(pod);
  return (
    textAt(found, 'state', 'terminated', 'message') ?? textAt(found, 'lastState', 'terminated', 'message')
  );
}

export function memberProblem(
  member: WorkloadMember,
  { workload, pod, now }: { workload: KubeObject; pod: KubeObject | undefined; now: Date },
): MemberProblem | undefined {
  if (!pod) return creationProblem(workload);
  return schedulingProblem(pod, now) ?? containerProblem(member, pod) ?? editedProblem(member, pod);
}

/** A quota, or a policy of the hub. */
function creationProblem(workload: KubeObject): MemberProblem | undefined {
  const failure = conditionIn(workload, 'ReplicaFailure');
  if (failure?.status !== 'True') return undefined;
  const { kind, metadata } = workload;
  return {
    reason: 'PodNotCreated',
    message: `no pod of ${metadata.name} can be created: ${failure.message ?? 'the hub gives no reason'}`,
    blocker: { kind, name: `${metadata.namespace ?? ''}/${metadata.name}` },
  };
}

export function schedulingProblem(pod: KubeObject, now: Date): MemberProblem | undefined {
  const scheduled = conditionIn(pod, 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  const since = Date.parse(scheduled.lastTransitionTime ?? pod.metadata.creationTimestamp ?? '');
  if (+now - since < PATIENCE_MS) return undefined;
  return problemOf(pod, scheduled.reason ?? 'Unschedulable', scheduled.message ?? 'no node takes the pod');
}

/** A change of its workload does not reach a pod that exists. */
function editedProblem(member: WorkloadMember, pod: KubeObject): MemberProblem | undefined {
  if (!isPodEdited(pod)) return undefined;
  const image = textAt(valueAt(pod, 'spec', 'containers', 0), 'image') ?? 'no image';
  const { namespace = '', name } = pod.metadata;
  return problemOf(
    pod,
    'PodEdited',
    `the pod of ${member} runs another program or other flags than it was made with, with the image ${image}: kubectl -n ${namespace} delete pod ${name}`,
  );
}

function containerProblem(member: WorkloadMember, pod: KubeObject): MemberProblem | undefined {
  const reason = textAt(container(pod), 'state', 'waiting', 'reason');
  if (reason !== undefined && NO_START.has(reason)) {
    const message = textAt(container(pod), 'state', 'waiting', 'message');
    return problemOf(pod, reason, message ?? 'it does not start');
  }
  return crashProblem(member, pod);
}

function crashProblem(member: WorkloadMember, pod: KubeObject): MemberProblem | undefined {
  const state = valueAt(container(pod), 'state');
  const isBetween =
    textAt(state, 'waiting', 'reason') === 'CrashLoopBackOff' || valueAt(state, 'terminated') !== undefined;
  const ended = restarts(pod) + 1;
  if (!isBetween || ended < CRASHES) return undefined;
  const { namespace = '', name } = pod.metadata;
  const log = `kubectl -n ${namespace} logs ${name} --previous`;
  const words = endOfLog(lastWords(pod) ?? '');
  const message = `${member} ended ${ended} times; it is tried again. Read its log: ${log}; its end:\n${words}`;
  return { ...problemOf(pod, 'MemberCrashes', message), ends: ended };
}

/** The programs log JSON, whose end is a stack trace. */
export function endOfLog(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  const entry = parseRecord(line);
  const parts = [textAt(entry, 'msg'), textAt(entry, 'error')].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(': ') : text.trim().slice(-MAX_LINE);
}

function problemOf(pod: KubeObject, reason: string, message: string): MemberProblem {
  const { namespace = '', name } = pod.metadata;
  return { reason, message, blocker: { kind: 'Pod', name: `${namespace}/${name}` } };
}
