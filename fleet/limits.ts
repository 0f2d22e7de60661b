/** Limits over all clusters, beside those that each cluster has on its own. They are declared in the hub. */
import { type Fleet, FleetPolicy } from 'kubenode/constructs';

export function declareFleetLimits(fleet: Fleet): void {
  new FleetPolicy(fleet.hub('limits'), 'fleet', {
    metadata: { name: 'fleet' },
    spec: {
      clusterSelector: { all: true },
      // What fails in two clusters is brought to no other one, and after three failed rollouts none begins for an hour.
      commonCause: { clusters: 2 },
      failedRollouts: { max: 3 },
      // In a larger fleet, limit the clusters in work at once, and the reboots of an hour, too: concurrency and rates.
    },
  });
}
