/** Reads the state that a Node reports, and decides whether its machine ever served. Pure. */
import { listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Machine } from '../generated/types.ts';
import { TAINT_NOT_INITIALIZED } from '../names.ts';

/** On each Node of the control plane. */
export const LABEL_CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';

export type NodeReadiness = 'Ready' | 'NotReady' | 'Unknown';

/** Returns the readiness of a Node. A Node that was deleted does not serve. */
export function readinessOf(node: KubeObject | undefined): NodeReadiness {
  if (!node) return 'NotReady';
  const status = textAt(readyCondition(node), 'status');
  if (status === 'True') return 'Ready';
  return status === 'False' ? 'NotReady' : 'Unknown';
}

/** Returns when the readiness last changed, by the clock of its writer. */
export function readyTransition(node: KubeObject | undefined): Date | undefined {
  return parseTime(textAt(readyCondition(node), 'lastTransitionTime'));
}

/**
 * Tells whether the machine was in service before. The taint is removed when the machine is Ready for the first time. A Node that registers
 * again has it again, but its machine was in service; one whose Node was deleted before that was recorded had one.
 */
export function isEstablished({ status }: Machine, node: KubeObject | undefined): boolean {
  if (status?.node?.establishedAt !== undefined) return true;
  return node ? !hasStartupTaint(node) : status?.node?.uid !== undefined;
}

export function hasStartupTaint(node: KubeObject): boolean {
  return taintKeys(node).includes(TAINT_NOT_INITIALIZED);
}

export function isCordoned(node: KubeObject | undefined): boolean {
  return valueAt(node, 'spec', 'unschedulable') === true;
}

export function taintKeys(node: KubeObject | undefined): readonly string[] {
  return listAt(node, 'spec', 'taints').flatMap((taint) => textAt(taint, 'key') ?? []);
}

export function parseTime(text: string | undefined): Date | undefined {
  const moment = Date.parse(text ?? '');
  return Number.isNaN(moment) ? undefined : new Date(moment);
}

export function readyCondition(node: KubeObject | undefined): unknown {
  return listAt(node, 'status', 'conditions').find((each) => textAt(each, 'type') === 'Ready');
}

/** Matches the conditions that are good when True: `KernelReady`. All others report a problem as True: `KernelDeadlock`. */
const WELL_WHEN_TRUE = /(?<!Not)Ready$|Healthy$|Available$/;

/** Tells whether a condition of this type reports a fault with this status. */
export function isFaultStatus(type: string, status: string | undefined): boolean {
  // Without a kubelet every other condition is Unknown, too.
  if (type === 'Ready') return status !== 'True';
  return status === (WELL_WHEN_TRUE.test(type) ? 'False' : 'True');
}
