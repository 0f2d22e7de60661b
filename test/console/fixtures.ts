/** States of the console for tests. */
import {
  type ClusterLine,
  type ConsoleState,
  type FleetPolicyCard,
  NO_STATE,
} from '../../src/console/state/state.ts';

export function clusterLine(name: string, fields: Partial<ClusterLine> = {}): ClusterLine {
  return {
    name,
    order: 0,
    stage: 'prod',
    commit: 'abc',
    state: 'Proven',
    synced: 'True',
    health: 'Healthy',
    because: '',
    ...fields,
  };
}

/** A FleetPolicy that is in force, with one limit that is in use. */
export function fleetPolicyCard(name: string, fields: Partial<FleetPolicyCard> = {}): FleetPolicyCard {
  const use = { used: 1, handedOut: 2 };
  return {
    name,
    phase: 'InForce',
    because: '',
    clusters: { total: 4, current: 4 },
    limits: [{ id: `${name}/clusters`, counts: 'clusters in work at once', max: 3, use }],
    held: [],
    waiting: [],
    notServed: [],
    ...fields,
  };
}

/** A stop of all clusters, as `kubenode fleet stop` writes it. */
export const FLEET_STOP: NonNullable<FleetPolicyCard['stop']> = {
  isForAll: true,
  holdsPromotion: true,
  scope: 'All',
  by: 'kim',
  reason: 'bad kernel image',
  progress: '3 of 4 clusters have stopped',
  resume: 'kubenode fleet resume',
};

/** Machines by key, with their phases. */
export function stateOf(
  phases: Readonly<Record<string, string>>,
  rest: Partial<ConsoleState> = {},
): ConsoleState {
  const machines = Object.fromEntries(Object.entries(phases).map(([key, p]) => [key, { p }]));
  return { ...NO_STATE, machines, ...rest };
}
