/** Which clusters of a stage start now, within the limits of promotion. Pure. */
import { optional } from '../../../kube/objects/optional.ts';
import type { Limit } from '../../../rollout/limit.ts';
import { type ClusterRollout, usesSlot } from '../cluster/rollout.ts';
import { isUnproven } from '../cluster/stage-member.ts';
import { type StartRequest, startLimit } from '../limits.ts';
import { failedClusters } from './rollout.ts';

type StageStarts = Omit<StartRequest, 'total' | 'busy' | 'failed'>;

/**
 * That a cluster is unreachable hides in its record whether it waited for a paused unit before, and so had no slot. It keeps the
 * slot when it answers again, unless more clusters are busy than may be.
 */
export function withLostSlots(
  rollouts: readonly ClusterRollout[],
  request: StageStarts,
): readonly ClusterRollout[] {
  const holders = rollouts.filter(usesSlot);
  const full = { ...request, total: rollouts.length, failed: failedClusters(rollouts) };
  const { slots } = startLimit({ ...full, busy: holders.length });
  const lost = slots < 0 ? holders.filter(hasReturned).slice(slots) : [];
  return rollouts.map((rollout) => (lost.includes(rollout) ? { ...rollout, hasLostSlot: true } : rollout));
}

function hasReturned({ member: { recorded, reachability } }: ClusterRollout): boolean {
  return recorded.state === 'Unreachable' && reachability.state === 'Reachable';
}

/** Chooses which clusters start or continue now, and names the limit that the others wait for. */
export function chooseStarts(
  rollouts: readonly ClusterRollout[],
  request: StageStarts,
): { readonly starts: ReadonlyMap<string, string>; readonly limit: Limit } {
  const busy = rollouts.filter(usesSlot).length;
  const full = { ...request, total: rollouts.length, failed: failedClusters(rollouts) };
  const { slots } = startLimit({ ...full, busy });
  const queue = rollouts
    .filter((rollout) => rollout.state === 'NotStarted' || needsSlot(rollout))
    .toSorted((a, b) => startPriority(a) - startPriority(b));
  const starts = queue.slice(0, Math.max(0, slots)).map(({ member, hasContent }) => {
    return [
      member.name,
      hasContent ? 'continues where it stopped' : `started in stage ${request.stage.name}`,
    ] as const;
  });
  return { starts: new Map(starts), limit: startLimit({ ...full, busy: busy + starts.length }) };
}

/** Tells whether the cluster needs a slot again: it was away in the middle of its rollout, and others may have got its slot. */
function needsSlot(rollout: ClusterRollout): boolean {
  const { state, member, hasContent } = rollout;
  const isStarted = state === 'Applying' || state === 'Soaking' || state === 'Held';
  return hasContent && isStarted && isUnproven(member) && !usesSlot(rollout);
}

/** Clusters with unfinished content of a replaced commit first, then failed ones, then returning ones, then the rest by name. */
function startPriority({ member, hasContent }: ClusterRollout): number {
  if (!hasContent && isUnproven(member)) return 0;
  if (!hasContent && member.progress.state === 'Failed') return 1;
  return hasContent ? 2 : 3;
}

/** The state of a cluster after the choice: it starts, or waits for the limit. */
export function afterStart(
  rollout: ClusterRollout,
  starts: ReadonlyMap<string, string>,
  limit: Limit,
): ClusterRollout {
  const isNotStarted = rollout.state === 'NotStarted';
  const because = starts.get(rollout.member.name);
  if (because !== undefined) {
    return isNotStarted ? { ...rollout, state: 'Applying', reason: 'Applying', because } : rollout;
  }
  if (!isNotStarted && !needsSlot(rollout) && !losesSlot(rollout, limit)) return rollout;
  const { reason, because: limitBecause, blocker } = limit;
  return { ...rollout, state: 'NotStarted', reason, because: limitBecause, ...optional('blocker', blocker) };
}

/** A held plan has written nothing yet. If it were released after the budget is spent, one more cluster would start. */
function losesSlot({ state }: ClusterRollout, { reason }: Limit): boolean {
  return state === 'Held' && reason === 'FailureBudgetSpent';
}
