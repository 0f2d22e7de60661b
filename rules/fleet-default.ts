import type { DefenderPolicySpec } from 'kubenode/constructs';

/** Limits for every action on every node. Without this policy the Defender denies all actions. */
export const fleetDefault: DefenderPolicySpec = {
  scope: { nodeSelector: { all: true } },
  concurrency: [
    { name: 'cluster', per: 'Cluster', risks: ['Node', 'Machine'], max: '5%' },
    { name: 'zone', per: 'Zone', risks: ['Node', 'Machine'], max: 1 },
    // Machines that are emptied before announced maintenance: a provider announces that of a whole zone at once.
    { name: 'emptied', per: 'Zone', actions: ['Cordon', 'Drain'], max: '10%' },
    // An image that never boots must not cost a pool more than one machine.
    { name: 'pool', per: 'Pool', risks: ['Machine'], max: 1 },
  ],
  rates: [
    {
      name: 'reboots',
      per: 'Cluster',
      actions: ['Reboot', 'PowerCycle', 'PowerOff'],
      max: 20,
      windowSeconds: 3600,
      burst: 5,
    },
    // A rule that is wrong restarts a few services, not those of the fleet.
    {
      name: 'restarts',
      per: 'Cluster',
      actions: ['RestartService', 'ReinstallComponent'],
      max: 30,
      windowSeconds: 3600,
      burst: 5,
    },
    { name: 'cleanups', per: 'Cluster', actions: ['CleanDisk'], max: 60, windowSeconds: 3600, burst: 10 },
  ],
  breakers: [
    { name: 'unhealthy', type: 'UnhealthyRatio', per: 'Zone', percent: 20, count: 3 },
    { name: 'failed-acts', type: 'FailedActs', per: 'Cluster', percent: 50, count: 6 },
    { name: 'failed-machine', type: 'ConsecutiveFailures', per: 'Pool', risks: ['Machine'], count: 1 },
    {
      name: 'failed-machines',
      type: 'FailedActs',
      per: 'Cluster',
      risks: ['Machine'],
      count: 3,
      withinSeconds: 3600,
    },
  ],
  blockers: {
    // Another tool takes these machines down: a repair would be in its way.
    foreign: [
      { taint: 'ToBeDeletedByClusterAutoscaler' },
      { taint: 'karpenter.sh/disrupted' },
      { label: 'dgxc.nvidia.com/nvsentinel-state' },
    ],
  },
  approval: [{ name: 'data', risks: ['Data'], approvers: ['node-sre-oncall'] }],
};
