/** Describes what the hub knows of its clusters and of the limits over them: the input of the planner. */

import { MAX_FLEET_LIMITS } from '../../api/enums.ts';
import type {
  Cluster,
  FleetAllowance,
  FleetAllowanceSpec,
  FleetConcurrency,
  FleetLimit,
  FleetPolicy,
  FleetRate,
  KillSwitch,
} from '../../api/generated/types.ts';
import { selectableLabels } from '../../api/status/cluster-labels.ts';
import { isEngaged } from '../../api/status/pauses.ts';
import { optional } from '../../kube/objects/optional.ts';
import { isSelected } from '../../kube/objects/selector.ts';

/**
 * Known: it adopted an allowance of this process, so that it adopts none of an earlier one any more. Joining: it is read, and has not
 * adopted one yet. Unread: neither. CutOff:
 * it was known, and is not reached. OtherHub: another hub's allowance is valid there. NotServed: the cluster has no kind FleetAllowance.
 */
export type LinkState = 'Known' | 'Joining' | 'Unread' | 'CutOff' | 'OtherHub' | 'NotServed';

export interface LinkedCluster {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly region?: string;
  readonly environment?: string;
  /** The commit that it runs. */
  readonly commit?: string;
  readonly state: LinkState;
  readonly since: Date;
  /** Why the cluster is not Known, for people. */
  readonly because?: string;
  /** As read last. */
  readonly allowance?: FleetAllowance;
  /** Allowances that may have been written since it was read: their answers were lost. */
  readonly attempts: readonly FleetAllowanceSpec[];
  /** Everything that was sent and that a process of the cluster, whose watch is late, may still adopt. */
  readonly adoptable: readonly FleetAllowanceSpec[];
  /** Since when it requests a share, by our clock, and has not got one; absent: it does not. */
  readonly requestedSince?: Date;
  /** Until when it keeps a share that it got a moment ago, so that it can use it. */
  readonly keepsUntil?: Date;
  /** Whether its clock differs too much from ours to rely on the end of an allowance. */
  readonly isSkewed?: boolean;
}

/** One limit of one policy. */
export interface LimitOfFleet {
  readonly id: string;
  readonly policy: string;
  readonly kind: FleetLimit['kind'];
  readonly max: number;
  readonly floor: number;
  readonly per: string;
  readonly actions: FleetLimit['actions'];
  readonly windowSeconds?: number;
  readonly allowanceSeconds: number;
  readonly countSeconds: number;
  readonly selects: (cluster: LinkedCluster) => boolean;
  /** Returns the group in which the cluster is counted. */
  readonly groupOf: (cluster: LinkedCluster) => string;
}

export interface FleetInput {
  readonly policies: readonly FleetPolicy[];
  readonly clusters: readonly LinkedCluster[];
  /** When this process began to hand out allowances. */
  readonly takeover: Date;
  readonly now: Date;
}

const NONE = '(none)';

/** In the order of the names of the policies, as many as an allowance may have. A policy whose limits are left out is not in force. */
export function fleetLimitsOf(policies: readonly FleetPolicy[]): readonly LimitOfFleet[] {
  const sorted = policies.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const all = sorted.flatMap((policy) => [
    ...policy.spec.concurrency.map((limit) => concurrencyLimit(policy, limit)),
    ...policy.spec.rates.map((limit) => rateLimit(policy, limit)),
  ]);
  return all.slice(0, MAX_FLEET_LIMITS);
}

type SharedFields = Pick<LimitOfFleet, 'policy' | 'allowanceSeconds' | 'countSeconds' | 'selects'>;

function sharedFields({ metadata, spec }: FleetPolicy): SharedFields {
  return {
    policy: metadata.name,
    allowanceSeconds: spec.allowanceSeconds,
    countSeconds: spec.cutOff.countSeconds,
    selects: ({ labels }) => isSelected(spec.clusterSelector, labels),
  };
}

function concurrencyLimit(policy: FleetPolicy, limit: FleetConcurrency): LimitOfFleet {
  const { name, per, labelKey = '', max, floor } = limit;
  return {
    ...sharedFields(policy),
    id: `${policy.metadata.name}/${name}`,
    kind: 'Concurrency',
    max,
    floor,
    per: per === 'Label' ? `values of label ${labelKey}`.slice(0, 64) : PLURALS[per],
    actions: [],
    groupOf: (cluster) => groupOf(limit, cluster),
  };
}

const PLURALS = { Cluster: 'clusters', Region: 'regions', Environment: 'environments' } as const;

function groupOf({ per, labelKey = '' }: FleetConcurrency, cluster: LinkedCluster): string {
  const { name, region = NONE, environment = NONE, labels } = cluster;
  if (per === 'Cluster') return name;
  if (per === 'Region') return region;
  return per === 'Environment' ? environment : (labels[labelKey] ?? NONE);
}

function rateLimit(policy: FleetPolicy, limit: FleetRate): LimitOfFleet {
  const { name, max, floor, actions, windowSeconds } = limit;
  return {
    ...sharedFields(policy),
    id: `${policy.metadata.name}/${name}`,
    kind: 'Rate',
    max,
    floor,
    per: 'acts',
    actions,
    windowSeconds,
    groupOf: ({ name: cluster }) => cluster,
  };
}

/** The stop that holds for the cluster: one for everything comes before one for a part. */
export function stopFor(
  policies: readonly FleetPolicy[],
  cluster: Pick<LinkedCluster, 'labels'>,
  now: Date,
): KillSwitch {
  const engaged = policies
    .filter(({ spec }) => isSelected(spec.clusterSelector, cluster.labels))
    .map(({ spec }) => spec.killSwitch)
    .filter((killSwitch) => isEngaged(killSwitch, now));
  return engaged.find(({ scope }) => scope === 'All') ?? engaged[0] ?? NOT_ENGAGED;
}

const NOT_ENGAGED: KillSwitch = { engaged: false, scope: 'All' };

export type ClusterFacts = Pick<LinkedCluster, 'name' | 'labels' | 'region' | 'environment' | 'commit'>;

/** Reads the facts of the Cluster object. Its labels are those that stages select by, too. */
export function clusterFacts(cluster: Cluster): ClusterFacts {
  const { region, environment } = cluster.spec;
  return {
    name: cluster.metadata.name,
    labels: selectableLabels(cluster),
    ...optional('region', region),
    ...optional('environment', environment),
    ...optional('commit', cluster.status?.sync?.commit),
  };
}

/** Returns what the cluster reports to this hub. */
export function reportsOf({ state, allowance }: LinkedCluster): FleetAllowance['status'] {
  return state === 'OtherHub' ? undefined : allowance?.status;
}
