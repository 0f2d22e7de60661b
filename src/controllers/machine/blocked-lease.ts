/**
 * The label that blocks an agent, as it has to be on its Lease: the policy kubenode-agent-blocked-object decides each heartbeat by the
 * Lease alone. Pure.
 */
import type { Machine } from '../../api/generated/types.ts';
import { LABEL_AGENT_BLOCKED } from '../../api/names.ts';
import type { JsonPatchOperation } from '../../kube/controller/writes/declared-fields.ts';
import { pointerTo } from '../../kube/controller/writes/json-patch.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

export function planBlockedLease(
  { metadata: { labels } }: Machine,
  lease: KubeObject,
): readonly JsonPatchOperation[] {
  const why = labels?.[LABEL_AGENT_BLOCKED];
  const present = lease.metadata.labels;
  if (present?.[LABEL_AGENT_BLOCKED] === why) return [];
  const path = pointerTo('metadata', 'labels', LABEL_AGENT_BLOCKED);
  if (why === undefined) return [{ op: 'remove', path }];
  if (present !== undefined) return [{ op: 'add', path, value: why }];
  return [{ op: 'add', path: pointerTo('metadata', 'labels'), value: { [LABEL_AGENT_BLOCKED]: why } }];
}
