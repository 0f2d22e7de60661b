/** What holds over all clusters, beside the limits of each. It is declared in the hub. */
import type { FleetPolicySpec } from 'kubenode/constructs';

export const fleetLimits: FleetPolicySpec = {
  clusterSelector: { all: true },
  // A version, kernel or rule that fails in two clusters is held in all. Shortened for a demonstration: use an hour or more.
  commonCause: { clusters: 2, withinSeconds: 600, holdSeconds: 60 },
};
