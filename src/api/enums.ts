/** Lists the values of fields that several kinds and parts share. No npm package here: the agent imports this file. */

/** The risks in order: each is greater than the one before it. */
export const RISKS = ['None', 'Pod', 'Node', 'Machine', 'Data'] as const;
export type Risk = (typeof RISKS)[number];

/** The classes of what activating a change does to the machine, from least to most disruptive. */
export const CLASSES = ['None', 'Reload', 'Restart', 'Drain', 'Reboot'] as const;
export type ActivationClass = (typeof CLASSES)[number];

/** Each has an entry in src/providers/registry.ts. */
export const PROVIDERS = ['local', 'ssh', 'alibaba', 'aws', 'azure'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** The providers whose machines another system creates and deletes. Our controller follows its objects, and no process opens them. */
export const FOLLOWED_PROVIDERS = ['clusterapi', 'external'] as const;
export type FollowedProvider = (typeof FOLLOWED_PROVIDERS)[number];

export const HOSTS = ['systemd', 'sandbox'] as const;

/** The kinds whose controllers ask the Defender for grants. */
export const HOLDERS = [
  'RemedyOperationJob',
  'MachineComponentSet',
  'MachineSet',
  'Machine',
  'Cluster',
  'Other',
] as const;
export type HolderKind = (typeof HOLDERS)[number];

export const POWER_SIGNS = ['On', 'Off', 'Unknown'] as const;

/** The results of a connection of a peer to the kubelet of a silent machine, from a machine that works to one that cannot be reached. */
export const PEER_RESULTS = ['KubeletAnswers', 'PortOpen', 'Refused', 'NoAnswer', 'Unknown'] as const;
export type PeerResult = (typeof PEER_RESULTS)[number];

export const FAULT_CLASSES = [
  'Kernel',
  'Disk',
  'Memory',
  'Network',
  'GPU',
  'Runtime',
  'Hardware',
  'Maintenance',
  'Other',
] as const;
export type FaultClass = (typeof FAULT_CLASSES)[number];

/** The properties of machines in which a common cause is searched. */
export const DIMENSIONS = [
  'zone',
  'rack',
  'pool',
  'hardware',
  'kernelVersion',
  'osImage',
  'kubeletVersion',
  'containerRuntimeVersion',
  'driverVersion',
  'componentVersion',
  'detectorVersion',
  'detectorConfig',
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Those of what reports a fault: it may be the fault itself. */
export const DETECTOR_DIMENSIONS: readonly string[] = [
  'detectorVersion',
  'detectorConfig',
] satisfies Dimension[];

/**
 * The properties that may fail in several clusters at once: the update to a MachineComponent, a rule, or a value that faulty machines have.
 * Places and pools belong to one cluster. FailedRollouts: no single cause, but too many rollouts failed.
 */
export const FLEET_CAUSES = [
  'componentUpdate',
  'rule',
  'componentVersion',
  'hardware',
  'kernelVersion',
  'osImage',
  'kubeletVersion',
  'containerRuntimeVersion',
  'driverVersion',
  'detectorVersion',
  'detectorConfig',
  'failedRollouts',
] as const;
/** Bounds of what clusters and hub tell each other. A key is `<dimension>=<value>`. */
export const FLEET_CAUSE_KEY = 192;
export const MAX_FLEET_CAUSES = 16;
export type FleetCauseDimension = (typeof FLEET_CAUSES)[number];

/** The types of announced maintenance that the pods of the machine do not survive. */
export const OUTAGES = ['Reboot', 'Stop', 'Redeploy', 'Preempt'] as const;
/** The other types, for rules that know the fault: a drain would disturb the pods for certain. */
export const NO_OUTAGES = [
  'Freeze',
  'Network',
  'DiskFault',
  'GPUFault',
  'MemoryFault',
  'Degraded',
  'Other',
] as const;

/** The states in which announced maintenance is decided. An event that is inquired may never come. */
export const DECIDED = ['Scheduled', 'Executing'] as const;
/** The states in which each earlier state may end. */
export const MAINTENANCE_ENDS = ['Cancelled', 'Failed', 'Avoided'] as const;
export const FINAL_STATES = ['Done', ...MAINTENANCE_ENDS] as const;

/** The number of limits that a FleetAllowance may have: those of all FleetPolicies together. */
export const MAX_FLEET_LIMITS = 32;
