/** Finds the pods of a node that may use one of its GPUs. Pure. */
import { isRecord, listAt, valueAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import { isCompleted, podName } from './pods.ts';

/**
 * The names of resources by which plug-ins of any vendor offer a GPU or a part of one: nvidia.com/mig-1g.5gb, example.com/gpu-memory,
 * example.com/vcuda-core.
 */
const GPU = /\/.*(gpu|cuda|mig-)|(gpu|cuda|nvidia).*\//i;

/** Explains which pod uses a GPU; undefined: none does. A pod that is being deleted counts until it is deleted. */
export function gpuPodReason(pods: readonly KubeObject[]): string | undefined {
  for (const pod of pods) {
    const resource = isCompleted(pod) ? undefined : gpuResource(pod);
    if (resource !== undefined) return `Pod ${podName(pod)} uses ${resource}`;
  }
  return undefined;
}

/** Returns what of a GPU the pod asks for. What a ResourceClaim allocates is not known from the pod: it may be a GPU. */
function gpuResource(pod: KubeObject): string | undefined {
  const containers = ['containers', 'initContainers'].flatMap((field) => listAt(pod, 'spec', field));
  const names = [valueAt(pod, 'spec'), ...containers].flatMap((holder) => requestedNames(holder));
  const [claim] = listAt(pod, 'spec', 'resourceClaims');
  return names.find((each) => GPU.test(each)) ?? (claim === undefined ? undefined : 'a ResourceClaim');
}

/** A limit of an extended resource is its request. */
function requestedNames(holder: unknown): readonly string[] {
  return ['requests', 'limits'].flatMap((field) => {
    const quantities = valueAt(holder, 'resources', field);
    return isRecord(quantities) ? Object.keys(quantities).filter((name) => isPositive(quantities[name])) : [];
  });
}

/** A quantity that cannot be read may be one. */
function isPositive(quantity: unknown): boolean {
  return Number.parseFloat(String(quantity)) !== 0;
}
