/** Allowances of a hub for the tests: valid for five minutes, with a limit of clusters and one of reboots. */
import type {
  FleetAllowance,
  FleetAllowanceSpec,
  FleetLimit,
  LedgerAllowance,
} from '../../../src/api/generated/types.ts';
import { ago, NOW } from '../builders.ts';

export const HUB = 'hub-1';

export function clustersLimit(fields: Partial<FleetLimit> = {}): FleetLimit {
  const shared = { floor: 1, actions: [], max: 3, per: 'clusters' };
  return { id: 'fleet/clusters', kind: 'Concurrency', share: 1, ...shared, ...fields };
}

export function rebootsLimit(fields: Partial<FleetLimit> = {}): FleetLimit {
  const shared = { floor: 1, max: 20, per: 'acts', windowSeconds: 3600 };
  return { id: 'fleet/reboots', kind: 'Rate', share: 2, actions: ['Reboot'], ...shared, ...fields };
}

export function allowance(fields: Partial<LedgerAllowance> = {}): LedgerAllowance {
  return {
    hub: HUB,
    epoch: 2,
    seq: 7,
    until: ago(-300),
    killSwitch: { engaged: false, scope: 'All' },
    limits: [clustersLimit(), rebootsLimit()],
    adoptedAt: NOW.toISOString(),
    ...fields,
  };
}

export function fleetAllowance(
  fields: Partial<FleetAllowanceSpec> = {},
  status?: FleetAllowance['status'],
): FleetAllowance {
  const { adoptedAt: _, ...spec } = allowance();
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'FleetAllowance',
    metadata: { name: 'default', generation: 1 },
    spec: { ...spec, cluster: 'prod-1', at: ago(0), ...fields },
    ...(status ? { status } : {}),
  };
}
