/** Judges the Job that takes a snapshot: whether it was taken, what keeps it from that, and why it failed. Pure. */
import { listAt, ownValue, textAt, valueAt } from '../../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import { conditionIn, currentPod, endOfLog, NO_START, schedulingProblem } from '../members/pods.ts';
import { ANNOTATION_TAKEN_AT } from '../names.ts';
import { OPENING, SERVING } from './containers.ts';

/** `Blocked`: it goes on when the cause is fixed. `Failed`: it has ended, or never succeeds, and another one has to be made. */
export type SnapshotState =
  | { readonly type: 'Running'; readonly container?: string | undefined }
  | { readonly type: 'Taken'; readonly takenAt: Date }
  | { readonly type: 'Blocked' | 'Failed'; readonly problem: string };

/** The hub creates the pod of a Job within a second. */
const NO_POD_MS = 30_000;
/** An etcd that ended twice on the same copy ends again. */
const ENDS = 2;

export function snapshotState(
  job: KubeObject,
  { pods, now }: { readonly pods: readonly KubeObject[]; readonly now: Date },
): SnapshotState {
  const takenAt = takenAtOf(job);
  if (takenAt) return { type: 'Taken', takenAt };
  const failure = failureOf(job, pods);
  if (failure !== undefined) return { type: 'Failed', problem: failure };
  const pod = currentPod(pods);
  const blocked = pods.length === 0 ? creationProblem(job, now) : pod && blockedBy(pod, now);
  if (blocked !== undefined) return { type: 'Blocked', problem: blocked };
  return { type: 'Running', ...optional('container', pod && runningContainer(pod)) };
}

function blockedBy(pod: KubeObject, now: Date): string | undefined {
  return schedulingProblem(pod, now)?.message ?? imageProblem(pod);
}

/** A quota or a policy of the hub, which only an Event of the Job names. */
function creationProblem(job: KubeObject, now: Date): string | undefined {
  const { name, namespace = '', annotations, creationTimestamp = '' } = job.metadata;
  const createdAt = Date.parse(annotations?.[ANNOTATION_TAKEN_AT] ?? creationTimestamp);
  if (+now - createdAt < NO_POD_MS) return undefined;
  return `its Job has no pod after ${NO_POD_MS / 1000} s: kubectl -n ${namespace} describe job ${name} shows why`;
}

/** The etcd on the copy runs beside the last container. */
function runningContainer(pod: KubeObject): string | undefined {
  const running = statusesOf(pod).filter((status) => valueAt(status, 'state', 'running') !== undefined);
  return textAt(running.at(-1), 'name');
}

/** Undefined: it has not succeeded, or its annotation was edited. */
function takenAtOf(job: KubeObject): Date | undefined {
  const takenAt = new Date(job.metadata.annotations?.[ANNOTATION_TAKEN_AT] ?? '');
  return isTrue(job, 'Complete') && !Number.isNaN(+takenAt) ? takenAt : undefined;
}

function isTrue(job: KubeObject, type: string): boolean {
  return conditionIn(job, type)?.status === 'True';
}

function failureOf(job: KubeObject, pods: readonly KubeObject[]): string | undefined {
  const ends = pods.flatMap(endedContainers);
  if (isTrue(job, 'Failed')) return ends[0] ?? conditionIn(job, 'Failed')?.message ?? 'its Job failed';
  if (isTrue(job, 'Complete')) return 'its Job does not have the time at which it began';
  return pods.flatMap(brokenSidecars)[0];
}

/** Returns the last words of the containers that ended with an error, each with its name. */
function endedContainers(pod: KubeObject): readonly string[] {
  return statusesOf(pod).flatMap((status) => {
    const ended = valueAt(status, 'state', 'terminated');
    if (ended === undefined || valueAt(ended, 'exitCode') === 0) return [];
    return [`${textAt(status, 'name')} ended: ${endOfLog(textAt(ended, 'message') ?? '')}`];
  });
}

const SIDECARS: Readonly<Record<string, string>> = { [OPENING]: 'etcd', [SERVING]: 'the API server' };

/** The kubelet starts a program again and again that does not start from the copy. */
function brokenSidecars(pod: KubeObject): readonly string[] {
  return statusesOf(pod).flatMap((status) => {
    const count = valueAt(status, 'restartCount');
    const program = ownValue(SIDECARS, textAt(status, 'name') ?? '');
    if (program === undefined || typeof count !== 'number' || count < ENDS) return [];
    const words = textAt(status, 'lastState', 'terminated', 'message') ?? '';
    return [`${program} does not start from the copy: ${endOfLog(words)}`];
  });
}

function imageProblem(pod: KubeObject): string | undefined {
  const waiting = statusesOf(pod).map((status) => valueAt(status, 'state', 'waiting'));
  const found = waiting.find((each) => NO_START.has(textAt(each, 'reason') ?? ''));
  return found === undefined ? undefined : (textAt(found, 'message') ?? textAt(found, 'reason'));
}

function statusesOf(pod: KubeObject): readonly unknown[] {
  return [...listAt(pod, 'status', 'initContainerStatuses'), ...listAt(pod, 'status', 'containerStatuses')];
}
