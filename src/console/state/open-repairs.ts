/** Decides which repairs are open, and which machines they are of. Pure; also runs in the page. */
import type { ConsoleState, RepairCard } from './state.ts';

/** Tells whether a repair has not ended. */
export function isOpenRepair({ state }: Pick<RepairCard, 'state'>): boolean {
  return state === 'Running' || state === 'NeedsPerson';
}

export function openRepairs(repairs: ConsoleState['repairs']): readonly RepairCard[] {
  return Object.values(repairs).filter(isOpenRepair);
}

/** Returns the keys of the machines with an open repair. */
export function machinesInRepair(repairs: ConsoleState['repairs']): ReadonlySet<string> {
  return new Set(openRepairs(repairs).map(({ cluster, machine }) => `${cluster}/${machine}`));
}
