/** Limits for every action on every machine. Without this policy the Defender denies all actions. */
import type { DefenderPolicySpec } from 'kubenode/constructs';

export const fleetDefault: DefenderPolicySpec = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'cluster', per: 'Cluster', risks: ['Node', 'Machine'], max: 1 }],
  // Shortened for a demonstration: how long an act counts after it ended.
  counting: { lingerSeconds: 10 },
  // By default a node is not repaired in its first 15 minutes.
  blockers: { minNodeAgeSeconds: 0 },
  breakers: [
    { name: 'unhealthy', type: 'UnhealthyRatio', per: 'Cluster', percent: 50, count: 3 },
    { name: 'failed-acts', type: 'FailedActs', per: 'Cluster', percent: 50, count: 6 },
  ],
};
