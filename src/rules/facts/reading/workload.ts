/** Summarizes what the Pods of a node tell about a repair: gangs, local data, and Pods that block it. Pure. */
import { LABEL_BLOCK } from '../../../api/names.ts';
import { isCompleted, skipReason } from '../../../kube/drain/pods.ts';
import { isRecord, listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';

export interface Workload {
  /** Whether a Pod belongs to a group that cannot run with one Pod less. */
  readonly gangPresent: boolean;
  /** Whether a Pod keeps data on this node. Undefined: a volume claim may be on it. */
  readonly localData?: boolean;
  /** The number of Pods that ask to be left alone. */
  readonly blockers: number;
}

/** The labels that the scheduler, or the controller of a group, sets on each Pod of the group. */
const GANG_LABELS: readonly string[] = [
  'scheduling.x-k8s.io/pod-group', // coscheduling plug-in
  'kueue.x-k8s.io/pod-group-name',
  'training.kubeflow.org/job-name',
  'jobset.sigs.k8s.io/jobset-name',
  'leaderworkerset.sigs.k8s.io/name',
  'volcano.sh/job-name',
];
const GANG_ANNOTATION = 'scheduling.k8s.io/group-name'; // Volcano

/** Lists the volumes that may be lost, by the owner of the Pod, as cluster-autoscaler reads it. */
const SAFE_VOLUMES = 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes';

export function summarizeWorkload(pods: readonly KubeObject[]): Workload {
  const running = pods.filter((pod) => !isCompleted(pod));
  // What a drain leaves alone runs on each node: it is neither a part of a gang, nor has it data that another node misses.
  const moving = running.filter((pod) => skipReason(pod, { deadNode: 'Wait' }, true) === undefined);
  const kept = moving.map(keepsData);
  const localData = kept.includes(true) || (kept.includes(undefined) ? undefined : false);
  return {
    gangPresent: moving.some(isOfGang),
    ...optional('localData', localData),
    blockers: running.filter(({ metadata }) => metadata.labels?.[LABEL_BLOCK] === 'true').length,
  };
}

function isOfGang({ metadata: { labels = {}, annotations = {} } }: KubeObject): boolean {
  return (
    GANG_LABELS.some((label) => Object.hasOwn(labels, label)) || Object.hasOwn(annotations, GANG_ANNOTATION)
  );
}

/** Returns undefined where only the volume of a claim tells: it may be local, or in the network. */
function keepsData(pod: KubeObject): boolean | undefined {
  const safe = new Set(
    (pod.metadata.annotations?.[SAFE_VOLUMES] ?? '').split(',').map((name) => name.trim()),
  );
  const volumes = listAt(pod, 'spec', 'volumes').filter(
    (volume) => isRecord(volume) && !safe.has(textAt(volume, 'name') ?? ''),
  );
  if (volumes.some(isLocal)) return true;
  return volumes.some(isClaim) ? undefined : false;
}

/** Tells whether the volume is on the disk of the node. One in memory does not outlive its Pod anywhere. */
function isLocal(volume: unknown): boolean {
  if (!isRecord(volume)) return false;
  const isOnDisk = Object.hasOwn(volume, 'emptyDir') && textAt(volume, 'emptyDir', 'medium') !== 'Memory';
  return isOnDisk || Object.hasOwn(volume, 'hostPath');
}

function isClaim(volume: unknown): boolean {
  return (
    isRecord(volume) && ['persistentVolumeClaim', 'ephemeral'].some((kind) => Object.hasOwn(volume, kind))
  );
}
