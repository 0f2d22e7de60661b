/**
 * Names the tags of our instances, the same in all clouds: letters and hyphens, because Azure refuses slashes and Alibaba Cloud some prefixes.
 * An instance without the first two and the name of its Machine is not ours. Pure.
 */
import type { Instance, InstanceFilter, InstanceRequest } from '../contract.ts';

export const TAG_CLUSTER_UID = 'kubenode-cluster-uid';
export const TAG_MACHINE_UID = 'kubenode-machine-uid';
export const TAG_SET = 'kubenode-set';
export const TAG_MACHINE = 'kubenode-machine';

/** The tags by which `find` filters, with their fields. */
const FILTERED = [
  [TAG_CLUSTER_UID, 'clusterUid'],
  [TAG_MACHINE_UID, 'machineUid'],
  [TAG_SET, 'set'],
] as const;

export type CloudTags = Readonly<Record<string, string>>;
/** How most clouds list tags. */
export interface CloudTag {
  readonly name: string;
  readonly value: string;
}

/** Every tag that a person may add begins otherwise. */
export function isOwnTag(name: string): boolean {
  return name.toLowerCase().startsWith('kubenode-');
}

export function formatTags({ machine, tags }: Pick<InstanceRequest, 'machine' | 'tags'>): CloudTags {
  return { ...formatFilter(tags), [TAG_MACHINE]: machine };
}

/** Returns the tags that an instance must have to be found. */
export function formatFilter(filter: InstanceFilter): CloudTags {
  const entries = FILTERED.flatMap(([name, field]) => {
    const value = filter[field];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** Returns the Machine that the tags name; undefined: the instance is not ours. */
export function readTags(tags: readonly CloudTag[]): Pick<Instance, 'machine' | 'tags'> | undefined {
  const values = new Map(tags.map(({ name, value }) => [name, value]));
  const [clusterUid, machineUid] = [values.get(TAG_CLUSTER_UID), values.get(TAG_MACHINE_UID)];
  const [machine, set] = [values.get(TAG_MACHINE), values.get(TAG_SET)];
  if (!clusterUid || !machineUid || !machine) return undefined;
  return { machine, tags: { clusterUid, machineUid, ...(set ? { set } : {}) } };
}

/** Tells whether an instance with these tags is found. Clouds filter too, and some of them later than they list. */
export function matchesFilter({ tags }: Pick<Instance, 'tags'>, filter: InstanceFilter): boolean {
  return FILTERED.every(([, field]) => filter[field] === undefined || filter[field] === tags[field]);
}
