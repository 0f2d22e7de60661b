/** Selects the MaintenanceEvents of one machine from an index, and derives what their spec alone contains. No npm package here. */

import type { Store } from '../../kube/cache/store.ts';
import { secondsAfter } from '../../os/dates.ts';
import { DECIDED, FINAL_STATES, OUTAGES } from '../enums.ts';
import type { MaintenanceEvent } from '../generated/types.ts';
import { parseTime } from './node-state.ts';

const MACHINE = 'machine';

/** Indexes the view of MaintenanceEvents by machine. */
export const MAINTENANCE_EVENT_INDEXERS = {
  [MACHINE]: ({ spec }: MaintenanceEvent): readonly string[] => [spec.machine],
};

export function maintenanceEventsOn(
  machine: string,
  events: Pick<Store<MaintenanceEvent>, 'byIndex'>,
): readonly MaintenanceEvent[] {
  return events.byIndex(MACHINE, machine);
}

export type MaintenanceState = MaintenanceEvent['spec']['state'];

export function isFinalState(state: MaintenanceState): boolean {
  return FINAL_STATES.some((each) => each === state);
}

/** Tells whether the maintenance will come, as far as its provider knows. */
export function isDecided({ spec: { hint, state } }: Pick<MaintenanceEvent, 'spec'>): boolean {
  return !hint && DECIDED.some((each) => each === state);
}

/** Returns when a hint ends by itself; undefined for what is not a hint. */
export function hintExpiry({ spec, metadata }: MaintenanceEvent): Date | undefined {
  const created = parseTime(metadata.creationTimestamp);
  if (!spec.hint || spec.ttlSeconds === undefined || !created) return undefined;
  return secondsAfter(created, spec.ttlSeconds);
}

/** Tells whether the maintenance ended, or was a hint whose time is over. `now` is the time by the clock of the API server. */
export function isMaintenanceOver(event: MaintenanceEvent, now: Date): boolean {
  const expiry = hintExpiry(event);
  return isFinalState(event.spec.state) || (expiry !== undefined && expiry <= now);
}

export function needsPreparation({ spec }: Pick<MaintenanceEvent, 'spec'>): boolean {
  return OUTAGES.some((each) => each === spec.type);
}
