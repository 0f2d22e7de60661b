/** Fleets for the tests of limits over clusters: three clusters in two regions, of which the hub knows everything. */
import type {
  FleetAllowanceSpec,
  FleetLimitUse,
  FleetPolicy,
  FleetPolicySpec,
  FoundCause,
} from '../../../src/api/generated/types.ts';
import type { FleetInput, LinkedCluster } from '../../../src/sync/fleetlimits/fleet.ts';
import { fleetAllowance } from '../../defender/allowance/builders.ts';
import { ago, NOW } from '../../support/builders.ts';

export { HUB } from '../../defender/allowance/builders.ts';
export { ago, NOW } from '../../support/builders.ts';

export const CLUSTERS = 'fleet/clusters';
export const REBOOTS = 'fleet/reboots';

export function fleetPolicy(spec: Partial<FleetPolicySpec> = {}, name = 'fleet'): FleetPolicy {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'FleetPolicy',
    metadata: { name, generation: 1 },
    spec: {
      clusterSelector: { all: true },
      killSwitch: { engaged: false, scope: 'All' },
      concurrency: [{ name: 'clusters', per: 'Cluster', max: 2, floor: 1 }],
      rates: [],
      allowanceSeconds: 300,
      cutOff: { countSeconds: 3600 },
      ...spec,
    },
  };
}

export const REBOOT_RATE = {
  concurrency: [],
  rates: [{ name: 'reboots', actions: ['Reboot'], max: 6, windowSeconds: 3600, floor: 1 }],
} as const satisfies Partial<FleetPolicySpec>;

/** A version that is held, because it failed in clusters a and b. */
export const HELD_UPDATE: FoundCause = {
  dimension: 'componentUpdate',
  value: 'kubelet-2',
  since: ago(600),
  until: ago(-3000),
  clusters: [
    { cluster: 'a', commit: 'bad', at: ago(600) },
    { cluster: 'b', commit: 'bad', at: ago(600) },
  ],
  message: 'it failed in a, b',
};

export interface Has {
  /** The share of each limit in the allowance. */
  readonly shares?: Readonly<Record<string, number>>;
  /** What the cluster adopted; default: the same. */
  readonly adopted?: Readonly<Record<string, number>>;
  readonly used?: Readonly<Record<string, number>>;
  /** When the request for one act began, in seconds ago. */
  readonly requestedFor?: number;
  readonly requests?: readonly string[];
  /** Seconds until the allowance ends. */
  readonly ends?: number;
}

const NO_SHARES = { shares: {}, used: {}, ends: 200 } as const;

/** A cluster that adopted what it has. */
export function cluster(name: string, has: Has = {}, fields: Partial<LinkedCluster> = {}): LinkedCluster {
  const { shares, ends } = { ...NO_SHARES, ...has };
  const limits = Object.entries<number>(shares).map(([id, share]) => limitOf(id, share));
  const status = { conditions: [], hub: 'hub-1', epoch: 2, seq: 7, until: ago(-ends), limits: usesOf(has) };
  return {
    name,
    labels: {},
    region: name.startsWith('eu') ? 'eu' : 'us',
    state: 'Known',
    since: new Date(ago(3600)),
    attempts: [],
    adoptable: [],
    ...(has.requestedFor === undefined ? {} : { requestedSince: new Date(ago(has.requestedFor)) }),
    allowance: fleetAllowance({ cluster: name, until: ago(-ends), limits }, status),
    ...fields,
  };
}

function usesOf(has: Has): readonly FleetLimitUse[] {
  const { shares = {}, used = {}, requestedFor } = has;
  const { adopted = shares, requests = Object.keys(shares) } = has;
  return Object.keys(shares).map((id) => {
    const request =
      requestedFor !== undefined && requests.includes(id)
        ? { requested: 1, requestedSince: ago(requestedFor) }
        : { requested: 0 };
    return { id, share: adopted[id] ?? 0, used: used[id] ?? 0, ...request };
  });
}

function limitOf(id: string, share: number): FleetAllowanceSpec['limits'][number] {
  const kind = id === REBOOTS ? 'Rate' : 'Concurrency';
  return { id, kind, share, floor: 1, actions: [], max: 2, per: 'clusters' };
}

export function input(
  clusters: readonly LinkedCluster[],
  policies: readonly FleetPolicy[] = [fleetPolicy()],
): FleetInput {
  return { policies, clusters, takeover: new Date(ago(7200)), now: NOW };
}
