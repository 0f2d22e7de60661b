/** The limits over all clusters, beside those of each. They are declared in the hub. */
import type { FleetPolicySpec } from 'kubenode/constructs';

export const fleetLimits: FleetPolicySpec = {
  clusterSelector: { all: true },
  // A version, kernel or rule that fails in two clusters is held in all. Shortened for a demonstration: use an hour or more.
  commonCause: { clusters: 2, withinSeconds: 600, holdSeconds: 60 },
};
