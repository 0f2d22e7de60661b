/** Compares the workload and the pods of a member with what was recorded for it. Pure. */
import { digestOf } from '../../../../../kube/objects/digest.ts';
import { listAt, textAt, valueAt } from '../../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import type { MemberDrift } from '../../driver.ts';
import { ANNOTATION_CONTAINER, ANNOTATION_RUN, ANNOTATION_VERSION } from '../names.ts';

/** Identifies what a container runs. A mirror of the hub may give the same image another name; its digest stays. */
export function containerDigest(container: unknown): string {
  const [command, args] = [listAt(container, 'command'), listAt(container, 'args')];
  return digestOf({ command, args, image: imageDigest(textAt(container, 'image')) });
}

function imageDigest(image = ''): string {
  return image.slice(image.lastIndexOf('@') + 1);
}

/** Returns the image that the pods of a workload are made with. */
export function workloadImage(workload: KubeObject | undefined): string | undefined {
  return textAt(containerOf(workload), 'image');
}

function containerOf(workload: KubeObject | undefined): unknown {
  return listAt(workload, 'spec', 'template', 'spec', 'containers')[0];
}

/** Returns the digest of what the workload was written for. Undefined: a hosting wrote it that recorded none. */
export function workloadRun(workload: KubeObject): string | undefined {
  return textAt(workload, 'spec', 'template', 'metadata', 'annotations', ANNOTATION_RUN);
}

/** Returns the digest of what the pod was made from. */
export function podRun(pod: KubeObject): string | undefined {
  return pod.metadata.annotations?.[ANNOTATION_RUN];
}

/** Tells whether the pod runs another program or other flags than it was made with: an image can be replaced in a pod that exists. */
export function isPodEdited(pod: KubeObject): boolean {
  const made = pod.metadata.annotations?.[ANNOTATION_CONTAINER];
  return made !== undefined && made !== containerDigest(listAt(pod, 'spec', 'containers')[0]);
}

export function podVersion(pod: KubeObject): string | undefined {
  return pod.metadata.annotations?.[ANNOTATION_VERSION];
}

/** Finds what somebody edited in the workload of a member that is to run. One without replicas has no pod that is started again. */
export function workloadDrift(workload: KubeObject): MemberDrift | undefined {
  const [replicas, program] = [replicasDrift(workload), programDrift(workload)];
  const found = [replicas, program].filter((text) => text !== undefined);
  if (found.length === 0) return undefined;
  const isDisruptive = program !== undefined && valueAt(workload, 'spec', 'replicas') !== 0;
  return { what: `its ${workload.kind} has ${found.join(', and ')}`, isDisruptive };
}

function replicasDrift(workload: KubeObject): string | undefined {
  const replicas = valueAt(workload, 'spec', 'replicas');
  return typeof replicas === 'number' && replicas !== 1 ? `${replicas} replicas, not 1` : undefined;
}

/** Tells whether what the pods are made from was edited, and not only how many there are. */
export function programDrift(workload: KubeObject): string | undefined {
  const made = textAt(workload, 'spec', 'template', 'metadata', 'annotations', ANNOTATION_CONTAINER);
  if (made === undefined || made === containerDigest(containerOf(workload))) return undefined;
  return `another program or other flags, with the image ${workloadImage(workload) ?? 'none'}`;
}
