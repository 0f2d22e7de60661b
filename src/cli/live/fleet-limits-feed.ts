/**
 * Feeds the live state of the limits over clusters, from a watch of the FleetPolicies. It is a feed of its own: who may not read them sees
 * the rest of the hub. Whether a process hands out allowances is read every few seconds: a renewal does not count as a change.
 */
import { FLEET_POLICIES } from '../../api/generated/resources.ts';
import type { FleetPolicy } from '../../api/generated/types.ts';
import { createLiveFeed, type LiveFeed } from '../../kube/cache/live-feed.ts';
import { createView } from '../../kube/cache/view.ts';
import type { Client } from '../../kube/client/client.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { type FleetLimitsView, viewFleetPolicy } from '../../views/fleet/policy-view.ts';

/** The interval of the checks: a third of the term of a Lease. */
const LEASE_CHECK_MS = 5000;

export interface FleetLimitsFeedOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** Reads why no process hands out allowances; undefined while one does. */
  readonly findUnlimited: (policies: readonly FleetPolicy[]) => Promise<string | undefined>;
}

export function createFleetLimitsFeed({
  findUnlimited,
  ...options
}: FleetLimitsFeedOptions): LiveFeed<FleetLimitsView> {
  const { clock } = options;
  let unlimited: string | undefined;
  return createLiveFeed(options, (parts) => {
    const view = createView<FleetPolicy>({ ...parts, resource: FLEET_POLICIES });
    const sorted = (): readonly FleetPolicy[] =>
      view.store.list().toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
    return {
      views: [view],
      current: () => ({
        policies: sorted().map((policy) => viewFleetPolicy(policy, clock.now())),
        ...optional('unlimited', unlimited),
      }),
      async work(signal, notify) {
        await view.reflector.synced(signal).catch(() => undefined);
        while (!signal.aborted) {
          // While the server does not answer, the watch reports it.
          unlimited = await findUnlimited(sorted()).catch(() => unlimited);
          notify();
          await clock.sleep(LEASE_CHECK_MS, signal).catch(() => undefined);
        }
      },
    };
  });
}
