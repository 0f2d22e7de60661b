/** Builds the rows of the limits over clusters in the console, in the words of `kubenode fleet status`. Pure. */
import type { LiveFeed } from '../../kube/cache/live-feed.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { FleetLimitsView, FleetPolicyView } from '../../views/fleet/policy-view.ts';
import type { ConsoleState, FleetPolicyCard, RowsByKey } from '../state/state.ts';
import { noteRows } from './hub-rows.ts';

export type FleetLimitRows = Pick<ConsoleState, 'fleetPolicies' | 'notes'>;

type LimitsFeed = Pick<LiveFeed<FleetLimitsView>, 'current' | 'staleReason'>;

/** Returns the rows. `isHubStale`: the hub explains already why nothing of it is read. */
export function fleetLimitRows(feed: LimitsFeed | undefined, isHubStale: boolean): FleetLimitRows {
  const stale = isHubStale ? undefined : feed?.staleReason();
  const { policies = [], unlimited } = feed?.current() ?? {};
  const old = unlimited ?? stale;
  const troubles = [...(unlimited === undefined ? [] : [unlimited]), ...staleNotes(stale)];
  return { fleetPolicies: cardsOf(policies, old), notes: noteRows(troubles, []) };
}

function staleNotes(stale: string | undefined): readonly string[] {
  return stale === undefined ? [] : [`limits over clusters: ${stale}`];
}

function cardsOf(
  policies: readonly FleetPolicyView[],
  stale: string | undefined,
): RowsByKey<FleetPolicyCard> {
  return Object.fromEntries(
    policies.map((policy) => [policy.name, { ...policy, ...optional('stale', stale) }]),
  );
}
