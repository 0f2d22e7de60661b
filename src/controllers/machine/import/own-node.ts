/** Tells whether a host is the Node of this cluster that has the name of its Machine: only that one is adopted. Pure. */
import type { Machine } from '../../../api/generated/types.ts';
import { readinessOf } from '../../../api/machine/node-state.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { NodeAdoption } from '../../../providers/ssh/preflight/check.ts';
import type { PreflightFacts } from '../../../providers/ssh/preflight/facts.ts';

type HostIds = Pick<PreflightFacts, 'machineId' | 'systemUuid'>;

/** Returns undefined for a Machine that adopts no Node. */
export function nodeAdoption(
  { metadata: { name }, spec }: Machine,
  node: KubeObject | undefined,
  ids: HostIds,
): NodeAdoption | undefined {
  if (!spec.import || spec.import.existingNode === 'Reject') return undefined;
  return { node: name, ...optional('refusedReason', refusedReason(name, node, ids)) };
}

/** A Node that is not Ready may be one that this host has left: its kubelet may serve another cluster. */
function refusedReason(name: string, node: KubeObject | undefined, ids: HostIds): string | undefined {
  if (!node) return `this cluster has no Node ${name}`;
  const because = otherIdReason(node, ids);
  if (because !== undefined) return `Node ${name} has ${because}`;
  return readinessOf(node) === 'Ready' ? undefined : `Node ${name} is not Ready`;
}

function otherIdReason(node: KubeObject, { machineId = 'none', systemUuid }: HostIds): string | undefined {
  const found = textAt(node, 'status', 'nodeInfo', 'machineID') ?? 'unknown';
  if (found !== machineId) return `the machine id ${found}, this host has ${machineId}`;
  return otherUuidReason(node, systemUuid);
}

function otherUuidReason(node: KubeObject, systemUuid: string | undefined): string | undefined {
  const uuid = textAt(node, 'status', 'nodeInfo', 'systemUUID')?.toLowerCase() ?? '';
  const isOther = systemUuid !== undefined && uuid !== '' && uuid !== systemUuid;
  return isOther ? `the system UUID ${uuid}, this host has ${systemUuid}` : undefined;
}
