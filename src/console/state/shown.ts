/** Keeps the state in the page: machines only in their groups, because to copy 10,000 rows at each change takes 10 ms. Pure. */
import { type FleetGroups, groupFleet, regroupFleet } from './fleet.ts';
import { applyPatch, type ConsolePatch } from './patch.ts';
import type { ConsoleState } from './state.ts';

export interface Shown {
  readonly state: Omit<ConsoleState, 'machines'>;
  readonly groups: FleetGroups;
}

export function showState({ machines, ...state }: ConsoleState): Shown {
  return { state, groups: groupFleet({ clusters: state.clusters, machines }) };
}

export function showChange({ state, groups }: Shown, change: ConsolePatch): Shown {
  const after = applyPatch(state, change);
  return { state: after, groups: regroupFleet(groups, after.clusters, change) };
}
