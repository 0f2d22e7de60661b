/** Limits for every action on every machine. Without this policy the Defender denies all actions. */
import type { DefenderPolicySpec } from 'kubenode/constructs';

export const fleetDefault: DefenderPolicySpec = {
  scope: { nodeSelector: { all: true } },
  // Machines that are out of service count: a zone that is dark uses up its own limit, and not that of the other zone.
  concurrency: [{ name: 'zone', per: 'Zone', risks: ['Node', 'Machine'], max: 1 }],
  // Shortened for a demonstration: how long an act counts after it ended.
  counting: { lingerSeconds: 10 },
  // A machine can be repaired again at once, and often: by default after half an hour, and three times a day by a reboot.
  perMachine: { minIntervalSeconds: 30, maxGrants: 100, maxReboots: 100, lemon: { repairs: 100 } },
  // A rule repairs a second machine soon: by default half an hour after its first repair, and then in waves of 5 %, 20 % and all.
  ruleWaves: { waves: [1, '100%'], soakSeconds: 10 },
  // By default a node is not repaired in its first 15 minutes.
  blockers: { minNodeAgeSeconds: 0 },
  // Both percentages are above half of prod, which is a zone: while one zone is dark, repairs go on in the other.
  selfDoubt: { massUnknownPercent: 60 },
  breakers: [
    { name: 'unhealthy', type: 'UnhealthyRatio', per: 'Cluster', percent: 60, count: 3 },
    { name: 'failed-acts', type: 'FailedActs', per: 'Cluster', percent: 50, count: 6 },
  ],
};
