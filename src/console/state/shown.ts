/** Keeps the state in the page: machines only in their groups, because to copy 10,000 rows at each change takes 10 ms. Pure. */
import { type FleetGroups, groupFleet, groupFleetBy, regroupFleet, type TileGrouping } from './fleet.ts';
import { applyPatch, type ConsolePatch } from './patch.ts';
import type { ConsoleState } from './state.ts';

export interface Shown {
  readonly state: Omit<ConsoleState, 'machines'>;
  readonly groups: FleetGroups;
}

export function showState({ machines, ...state }: ConsoleState, by: TileGrouping = 'zone'): Shown {
  return { state, groups: groupFleet({ clusters: state.clusters, machines }, by) };
}

export function showChange({ state, groups }: Shown, change: ConsolePatch): Shown {
  const after = applyPatch(state, change);
  return { state: after, groups: regroupFleet(groups, after.clusters, change) };
}

/** Returns the same state with the machines in other groups. */
export function showGroupedBy({ state, groups }: Shown, by: TileGrouping): Shown {
  return { state, groups: groupFleetBy(groups, state.clusters, by) };
}
