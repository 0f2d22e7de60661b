/** Whether a cluster answers, and since when it does not. Pure. */

import type { ClusterSync } from '../../../api/generated/types.ts';
import { secondsAfter } from '../../../os/dates.ts';
import type { ClusterReport } from '../../cluster-report.ts';
import type { ClusterSnapshot } from '../snapshot.ts';

export type Reachability =
  | { readonly state: 'Reachable' }
  /** No attempt to connect has ended yet, or the identity of the cluster is not verified, or its inventory not read yet. */
  | { readonly state: 'Unknown' }
  | {
      readonly state: 'Unreachable';
      readonly since: Date;
      /** End of the grace that its stage allows. */
      readonly until: Date;
      readonly isGraceOver: boolean;
      /** The cluster answers, and refuses work because of its load. */
      readonly isOverloaded?: true;
    };

export function clusterReachability(
  { cluster, report }: ClusterSnapshot,
  graceSeconds: number,
  now: Date,
): Reachability {
  if (report?.reachable === undefined) return { state: 'Unknown' };
  if (report.reachable) {
    return overloaded(report, graceSeconds, now) ?? { state: isObserved(report) ? 'Reachable' : 'Unknown' };
  }
  const since = unreachableSince(cluster.status?.sync, report.lastContactAt, now);
  const until = secondsAfter(since, graceSeconds);
  return { state: 'Unreachable', since, until, isGraceOver: now >= until };
}

/** A moment of load is not an outage: within the grace, the cluster only waits for its next attempt. */
function overloaded(
  { overloadedSince }: ClusterReport,
  graceSeconds: number,
  now: Date,
): Reachability | undefined {
  if (overloadedSince === undefined) return undefined;
  const since = overloadedSince > now ? now : overloadedSince;
  const until = secondsAfter(since, graceSeconds);
  if (now < until) return undefined;
  return { state: 'Unreachable', since, until, isGraceOver: true, isOverloaded: true };
}

/** Until the inventory is read, or cannot be read, the cluster may run something newer than what is recorded. */
function isObserved({ identity, commits, failure }: ClusterReport): boolean {
  return (
    identity !== 'Unknown' && (identity === 'Mismatch' || commits !== undefined || failure !== undefined)
  );
}

/**
 * The recorded time comes first, so that a restart does not restart the grace. Time in which sync itself was down does not
 * count against the cluster: the grace starts when sync first finds it unreachable.
 */
function unreachableSince(sync: ClusterSync | undefined, lastContactAt: Date | undefined, now: Date): Date {
  const recorded = sync?.state === 'Unreachable' || sync?.state === 'Skipped' ? sync.since : undefined;
  const since = recorded === undefined ? (lastContactAt ?? now) : new Date(recorded);
  // A clock that was set back must not prolong the grace.
  return since > now ? now : since;
}
