/** Limits over all clusters, beside those that each cluster has on its own. They are declared in the hub. */
import { type Fleet, FleetPolicy } from 'kubenode/constructs';

export function declareFleetLimits(fleet: Fleet): void {
  new FleetPolicy(fleet.hub('limits'), 'fleet', {
    metadata: { name: 'fleet' },
    spec: {
      clusterSelector: { all: true },
      // In a larger fleet, limit how many clusters or regions are in work at once, too: concurrency.
      rates: [
        // Each cluster may reboot 20 machines an hour: a bad kernel must not reboot as many in each of them.
        { name: 'reboots', actions: ['Reboot', 'PowerCycle', 'PowerOff'], max: 30, windowSeconds: 3600 },
        // A machine that is replaced loses its disks.
        { name: 'replacements', actions: ['ReplaceMachine'], max: 3, windowSeconds: 3600 },
      ],
      // What fails in two clusters is brought to no other one, and after three failed rollouts none begins for an hour.
      commonCause: { clusters: 2 },
      failedRollouts: { max: 3 },
    },
  });
}
