/** Counts the rollouts that failed over the clusters of a policy. Once there are too many, no rollout begins until enough are long ago. Pure. */
import type { FleetPolicy, FoundCause } from '../../../api/generated/types.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { type LinkedCluster, reportsOf } from '../fleet.ts';
import { shortClusterList } from '../short-cluster-list.ts';

export interface FailedRolloutsInput {
  readonly policy: FleetPolicy;
  /** The clusters of the policy. */
  readonly clusters: readonly LinkedCluster[];
  readonly now: Date;
}

const SHOWN = 20;

/** Returns the cause that holds every rollout, or nothing. */
export function failedRolloutsCause(input: FailedRolloutsInput): readonly FoundCause[] {
  const { policy, now } = input;
  const limit = policy.spec.failedRollouts;
  const failed = recentFailedRollouts(input);
  // When this one leaves the period, one less than the limit is left.
  const last = limit && failed[failed.length - limit.max];
  if (!limit || !last) return [];
  const value = policy.metadata.name;
  const names = [...new Set(failed.map(({ cluster }) => cluster))];
  return [
    {
      dimension: 'failedRollouts',
      value,
      since: heldSince(policy) ?? now.toISOString(),
      until: secondsAfter(new Date(last.at), limit.windowSeconds).toISOString(),
      clusters: names.slice(0, SHOWN).map((cluster) => ({ cluster, at: lastOf(failed, cluster) })),
      message: `${failed.length} rollouts failed within ${limit.windowSeconds} s in ${shortClusterList(names)}: from ${limit.max} on, no other one begins`,
    },
  ];
}

function heldSince({ status }: FleetPolicy): string | undefined {
  return status?.causes?.find(({ dimension }) => dimension === 'failedRollouts')?.since;
}

interface FailedInCluster {
  readonly cluster: string;
  readonly at: string;
}

/**
 * Returns those within the period, the oldest first. Of one cluster they are one too few, so that a single broken one does not stop all
 * others. A clock that is ahead does not hold for longer.
 */
export function recentFailedRollouts({
  policy: { spec },
  clusters,
  now,
}: FailedRolloutsInput): readonly FailedInCluster[] {
  const limit = spec.failedRollouts;
  if (!limit) return [];
  const from = +now - limit.windowSeconds * 1000;
  const most = Math.max(1, limit.max - 1);
  return clusters
    .flatMap((each) =>
      failedIn(each, now)
        .filter(({ at }) => Date.parse(at) > from)
        .slice(0, most),
    )
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

/** The newest first. */
function failedIn(cluster: LinkedCluster, now: Date): readonly FailedInCluster[] {
  const latest = now.toISOString();
  const reported = reportsOf(cluster)?.failedRollouts ?? [];
  return reported
    .map(({ at }) => ({ cluster: cluster.name, at: Date.parse(at) > +now ? latest : at }))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1));
}

function lastOf(failed: readonly FailedInCluster[], name: string): string {
  return failed.findLast(({ cluster }) => cluster === name)?.at ?? '';
}
