/** Counts the rollouts that failed over the clusters of a policy. Once there are too many, no rollout begins until enough are long ago. Pure. */
import type { FleetPolicy, FoundCause } from '../../api/generated/types.ts';
import { secondsAfter } from '../../os/dates.ts';
import type { LinkedCluster } from './fleet.ts';

export interface FailedRolloutsInput {
  readonly policy: FleetPolicy;
  /** The clusters of the policy. */
  readonly clusters: readonly LinkedCluster[];
  readonly now: Date;
}

const SHOWN = 20;
const NAMED = 5;

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
      message: `${failed.length} rollouts failed within ${limit.windowSeconds} s, and at most ${limit.max} may before none begins: ${namesText(names)}`,
    },
  ];
}

function heldSince({ status }: FleetPolicy): string | undefined {
  return status?.causes?.find(({ dimension }) => dimension === 'failedRollouts')?.since;
}

function namesText(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return `${names.slice(0, NAMED).join(', ')}${more}`;
}

interface FailedInCluster {
  readonly cluster: string;
  readonly at: string;
}

/** Returns those within the period, the oldest first. */
export function recentFailedRollouts({
  policy: { spec },
  clusters,
  now,
}: FailedRolloutsInput): readonly FailedInCluster[] {
  if (!spec.failedRollouts) return [];
  const from = +now - spec.failedRollouts.windowSeconds * 1000;
  return clusters
    .flatMap(({ name, allowance }) =>
      (allowance?.status?.failedRollouts ?? []).map(({ at }) => ({ cluster: name, at })),
    )
    .filter(({ at }) => Date.parse(at) > from)
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

function lastOf(failed: readonly FailedInCluster[], name: string): string {
  return failed.findLast(({ cluster }) => cluster === name)?.at ?? '';
}
