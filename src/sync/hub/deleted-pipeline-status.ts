/** The status of a cluster whose Pipeline was deleted, when no Pipeline is left that would write it. Pure. */

import type { Cluster, ClusterStatus, ClusterSync } from '../../api/generated/types.ts';
import { clusterPhases } from '../../api/status/phase-tables.ts';
import { deletedPipelineMessage } from '../../api/status/sync-words.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { ownStatus } from '../promote/cluster/status.ts';
import { waitFor } from '../promote/wait.ts';

const REASON = 'PipelineDeleted';

/** Returns the status. Undefined for a cluster that was never assigned anything. What is proven and what failed there stays recorded. */
export function deletedPipelineStatus(cluster: Cluster, now: Date): ClusterStatus | undefined {
  const before = ownStatus(cluster.status);
  const assigned = before?.assigned;
  if (!before || !assigned) return undefined;
  const message = deletedPipelineMessage(assigned.pipeline);
  const observedGeneration = optional('observedGeneration', cluster.metadata.generation);
  const conditions = withConditions(before.conditions, findings(message), now, cluster.metadata.generation);
  const others = (cluster.status?.conditions ?? []).filter(
    ({ type }) => !conditions.some((own) => own.type === type),
  );
  return {
    ...before,
    ...observedGeneration,
    phase: clusterPhases.phaseOf({
      conditions: [...conditions, ...others],
      deletionTimestamp: cluster.metadata.deletionTimestamp,
    }),
    conditions,
    waiting: waitFor(before.waiting, { reason: REASON, because: message }, now),
    sync: heldSync(before.sync, message, now),
    assigned: { ...assigned, mode: 'Observe' },
  };
}

function heldSync(before: ClusterSync = {}, message: string, now: Date): ClusterSync {
  const since = before.state === 'Held' ? before.since : undefined;
  return { ...before, state: 'Held', since: since ?? now.toISOString(), message };
}

function findings(message: string): readonly ConditionUpdate[] {
  return [
    { type: 'Synced', status: 'Unknown', reason: REASON, message },
    { type: 'Progressing', status: 'False', reason: REASON, message },
    { type: 'Stalled', status: 'True', reason: REASON, message },
  ];
}
