/** Tells which machines are only kept for an analysis: their instances exist, and no pod is placed on them. Pure. */
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Machine } from '../generated/types.ts';
import { outOfServiceReason } from './availability.ts';

/** Tells whether the machine was drained for its deletion, and its instance is kept. Another machine has its place. */
export function isKept({ metadata, status }: Machine): boolean {
  return metadata.deletionTimestamp !== undefined && status?.kept !== undefined;
}

/** Tells whether it is kept and takes no pods. A kubelet that registers again without the start-up taint takes some. */
export function isOutOfUse(machine: Machine, node: KubeObject | undefined): boolean {
  return isKept(machine) && outOfServiceReason(node) !== undefined;
}
