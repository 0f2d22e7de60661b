/** The policy that the simulated fleet runs under: every guard has something to do. */
import type { DefenderPolicy, DefenderPolicySpec, RateLimit } from '../api/generated/types.ts';
import { FLEET_DEFAULT } from '../api/names.ts';

export const LIMITS = {
  clusterPercent: 5,
  failuresInARow: 4,
  cooldownSeconds: 1800,
  causeCount: 3,
  causeWithinSeconds: 1800,
  minIntervalSeconds: 1800,
  minNodeAgeSeconds: 900,
  maxViewAgeSeconds: 150,
  soakSeconds: 1800,
} as const;

/** As many as a fleet of this size needs: with fewer, sick machines would only pile up. */
export function rebootLimits(machines: number): { readonly anHour: number; readonly burst: number } {
  return { anHour: Math.max(4, Math.ceil(machines / 50)), burst: Math.max(2, Math.ceil(machines / 200)) };
}

/** Opens when much of a zone is not Ready. */
export const STORM_BREAKER = 'storm';

export const FOREIGN_TAINT = 'karpenter.sh/disrupted';
export const BLOCKING_LABEL = 'kubenode.dev/block=true';
export const PAGING_QUERY = 'ALERTS{severity="page"}';
/** Hours in UTC. */
export const QUIET_HOURS = { start: 18, end: 20 } as const;

const DISRUPTIVE = ['Node', 'Machine'] as const;

export interface PolicySwitches {
  readonly isStopped: boolean;
  readonly isFrozen: boolean;
  /** Number of machines of the fleet. */
  readonly machines: number;
}

export function simulatedPolicy({ isStopped, isFrozen, machines }: PolicySwitches): DefenderPolicy {
  const freeze = {
    name: 'sale',
    from: '2000-01-01T00:00:00Z',
    until: '2100-01-01T00:00:00Z',
    reason: 'sale',
  };
  const stop = { engaged: true, scope: 'All', by: 'simulator', reason: 'drill' } as const;
  const spec: DefenderPolicySpec = {
    ...BASE,
    rates: [rebootRate(machines)],
    killSwitch: isStopped ? stop : { engaged: false, scope: 'All' },
    freezes: isFrozen ? [{ ...freeze, risks: DISRUPTIVE }] : [],
  };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderPolicy',
    metadata: { name: FLEET_DEFAULT },
    spec,
  };
}

function rebootRate(machines: number): RateLimit {
  const { anHour, burst } = rebootLimits(machines);
  const limit = { name: 'reboots', per: 'Cluster', actions: ['Reboot'], risks: [] } as const;
  return { ...limit, max: anHour, windowSeconds: 3600, burst };
}

const BASE: Omit<DefenderPolicySpec, 'killSwitch' | 'freezes' | 'rates'> = {
  mode: 'Enforce',
  scope: { nodeSelector: { all: true }, actions: [], risks: [], holders: [] },
  grantSeconds: 300,
  counting: {
    include: ['InFlight', 'NotReady', 'Cordoned', 'ForeignMaintenance', 'DeletedNotReplaced', 'Unknown'],
    lingerSeconds: 900,
    smallPool: { below: 3, max: 1 },
  },
  concurrency: [
    {
      name: 'cluster',
      per: 'Cluster',
      actions: [],
      risks: DISRUPTIVE,
      max: `${LIMITS.clusterPercent}%` as '5%',
    },
    { name: 'zone', per: 'Zone', actions: [], risks: DISRUPTIVE, max: '10%' },
  ],
  perMachine: {
    maxGrants: 5,
    maxReboots: 3,
    windowSeconds: 86_400,
    minIntervalSeconds: LIMITS.minIntervalSeconds,
    // oxlint-disable-next-line unicorn/no-thenable -- name of the API field
    lemon: { repairs: 30, windowSeconds: 604_800, then: 'HandOff' },
  },
  breakers: [
    {
      name: 'failed-acts',
      type: 'ConsecutiveFailures',
      per: 'Cluster',
      risks: [],
      count: LIMITS.failuresInARow,
      lift: 2,
      cooldownSeconds: LIMITS.cooldownSeconds,
      probes: 1,
      manualAfterTrips: 99,
    },
    {
      name: STORM_BREAKER,
      type: 'UnhealthyRatio',
      per: 'Zone',
      risks: [],
      percent: 40,
      count: 3,
      lift: 2,
      cooldownSeconds: 600,
      probes: 1,
      manualAfterTrips: 99,
    },
    {
      name: 'cause',
      type: 'CommonCause',
      per: 'Cluster',
      risks: [],
      percent: 60,
      count: LIMITS.causeCount,
      withinSeconds: LIMITS.causeWithinSeconds,
      lift: 2,
      dimensions: ['kubeletVersion'],
      cooldownSeconds: LIMITS.cooldownSeconds,
      probes: 1,
      manualAfterTrips: 99,
    },
  ],
  zones: { haltPercent: 55, minNodes: 3 },
  selfDoubt: {
    maxViewAgeSeconds: LIMITS.maxViewAgeSeconds,
    apiErrorPercent: 20,
    massUnknownPercent: 20,
    withinSeconds: 120,
    secondVantage: ['PeerAgents'],
  },
  controlPlane: { max: 1, readyAPIServersAfter: 2, etcdQuorumAfter: true, actions: [] },
  quiet: [
    {
      name: 'evening',
      start: `${QUIET_HOURS.start}:00`,
      end: `${QUIET_HOURS.end}:00`,
      timeZone: 'UTC',
      risks: DISRUPTIVE,
      exceptFaultClasses: [],
    },
  ],
  blockers: {
    foreign: [{ taint: FOREIGN_TAINT }],
    podLabels: [BLOCKING_LABEL],
    minNodeAgeSeconds: LIMITS.minNodeAgeSeconds,
    promql: [{ name: 'paging', query: PAGING_QUERY }],
  },
  capacity: { minFreePercent: {}, simulateScheduling: true },
  ruleWaves: { waves: [1, '5%', '20%', '100%'], soakSeconds: LIMITS.soakSeconds, minSuccessPercent: 90 },
  approval: [
    {
      name: 'replace',
      risks: [],
      actions: ['ReplaceMachine'],
      onlyLocalData: false,
      approvers: ['sre'],
      timeoutSeconds: 3600,
    },
  ],
};
