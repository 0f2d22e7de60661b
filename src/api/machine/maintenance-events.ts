/** The MaintenanceEvents of one machine, from an index, and what their spec alone tells. No npm package here. */
import type { Store } from '../../kube/cache/store.ts';
import type { MaintenanceEvent } from '../generated/types.ts';
import { parseTime } from './node-state.ts';

const MACHINE = 'machine';

/** Of the view of MaintenanceEvents. */
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

const FINAL: readonly MaintenanceState[] = ['Done', 'Cancelled', 'Failed', 'Avoided'];

export function isFinalState(state: MaintenanceState): boolean {
  return FINAL.includes(state);
}

/** When a hint ends by itself; undefined for what is not a hint. */
export function hintExpiry({ spec, metadata }: MaintenanceEvent): Date | undefined {
  const created = parseTime(metadata.creationTimestamp);
  if (!spec.hint || spec.ttlSeconds === undefined || !created) return undefined;
  return new Date(created.getTime() + spec.ttlSeconds * 1000);
}

/** It ended, or it was a hint whose time is over. `now`: by the clock of the API server. */
export function isMaintenanceOver(event: MaintenanceEvent, now: Date): boolean {
  const expiry = hintExpiry(event);
  return isFinalState(event.spec.state) || (expiry !== undefined && expiry <= now);
}

/** What pods do not survive. Everything else is for rules that know the fault: a drain would disturb the pods for certain. */
const PREPARED_TYPES: readonly MaintenanceEvent['spec']['type'][] = ['Reboot', 'Stop', 'Redeploy', 'Preempt'];

export function needsPreparation({ spec }: Pick<MaintenanceEvent, 'spec'>): boolean {
  return PREPARED_TYPES.includes(spec.type);
}
