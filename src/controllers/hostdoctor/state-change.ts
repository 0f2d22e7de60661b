/** Which changes of the state of an event are possible, judged from the state that was observed before. Pure. */
import { MAINTENANCE_ENDS } from '../../api/enums.ts';
import type { MaintenanceEvent } from '../../api/generated/types.ts';
import type { MaintenanceState } from '../../api/machine/maintenance-events.ts';

const NEXT: Readonly<Record<MaintenanceState, readonly MaintenanceState[]>> = {
  Inquiring: ['Scheduled', ...MAINTENANCE_ENDS],
  Scheduled: ['Executing', ...MAINTENANCE_ENDS],
  Executing: ['Done', ...MAINTENANCE_ENDS],
  Done: [],
  Cancelled: [],
  Failed: [],
  Avoided: [],
};

export interface StateChange {
  /** The last state that a permitted change led to. */
  readonly observed: MaintenanceState;
  /** Why the change is impossible. */
  readonly inconsistent?: string;
}

/** States between two reports may be missed, so several reports may make several changes at once. */
export function stateChange(event: MaintenanceEvent): StateChange {
  const { state } = event.spec;
  const before = event.status?.observedState;
  if (before === undefined || before === state) return { observed: state };
  if (isReachable(before, state, reportsSince(event))) return { observed: state };
  const next = NEXT[before].join(', ');
  const expected = next === '' ? 'it was final' : `expected one of ${next}`;
  return { observed: before, inconsistent: `state ${state} cannot follow ${before}: ${expected}` };
}

function reportsSince({ metadata, status }: MaintenanceEvent): number {
  const { generation = 1 } = metadata;
  return Math.max(1, generation - (status?.observedGeneration ?? generation));
}

function isReachable(from: MaintenanceState, to: MaintenanceState, changes: number): boolean {
  if (changes === 0) return false;
  return NEXT[from].some((next) => next === to || isReachable(next, to, changes - 1));
}
