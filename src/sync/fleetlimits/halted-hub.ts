/**
 * Shows promotion what FleetPolicies hold. While one stops all clusters, every Pipeline is halted: no commit begins anywhere, not even a revert.
 * A cause over clusters holds its commits, and never a revert.
 */
import type { FleetPolicy, Pipeline } from '../../api/generated/types.ts';
import { type FleetHalt, isEngaged } from '../../api/status/pauses.ts';
import type { HubStore } from '../promote/ports.ts';
import type { PromotionHold } from '../promote/snapshot.ts';

type Promoting = Pick<HubStore, 'pipeline' | 'pipelines'>;

export interface FleetHolds {
  /** Returns the policy that stops every cluster, if there is one. */
  stop(): FleetPolicy | undefined;
  holds(): readonly PromotionHold[];
}

export function haltedByFleet<Hub extends Promoting>(
  hub: Hub,
  fleet: FleetHolds,
): Hub & Pick<FleetHolds, 'holds'> {
  const halted = (pipeline: Pipeline): Pipeline => {
    const policy = fleet.stop();
    return policy ? { ...pipeline, spec: { ...pipeline.spec, halt: haltOf(policy) } } : pipeline;
  };
  return {
    ...hub,
    pipeline: async (name) => {
      const found = await hub.pipeline(name);
      return found && halted(found);
    },
    pipelines: async () => (await hub.pipelines()).map(halted),
    holds: () => fleet.holds(),
  };
}

function haltOf({ metadata, spec: { killSwitch } }: FleetPolicy): FleetHalt {
  const { by = 'unknown', reason = 'no reason given' } = killSwitch;
  return {
    by: `${by} (FleetPolicy ${metadata.name})`,
    reason,
    since: metadata.creationTimestamp ?? '',
    resume: 'kubenode fleet resume',
  };
}

/** Finds the policy that stops rollouts in every cluster now. */
export function stopOfFleet(policies: readonly FleetPolicy[], now: Date): FleetPolicy | undefined {
  return policies.find(
    ({ spec: { clusterSelector, killSwitch } }) =>
      clusterSelector.all && killSwitch.scope !== 'Remedy' && isEngaged(killSwitch, now),
  );
}

/** Returns what failed in several clusters, and is still held. Of a single cause, the commits that brought it are known. */
export function holdsOfFleet(policies: readonly FleetPolicy[], now: Date): readonly PromotionHold[] {
  return policies.flatMap(({ metadata: { name: policy }, status }) =>
    (status?.causes ?? []).flatMap(({ dimension, until, clusters, message: because }) => {
      if (Date.parse(until) <= +now) return [];
      const hold = { policy, because, until: new Date(until) };
      if (dimension === 'failedRollouts') return [hold];
      const commits = new Set(clusters.flatMap(({ commit }) => commit ?? []));
      return commits.size === 0 ? [] : [{ ...hold, commits }];
    }),
  );
}
