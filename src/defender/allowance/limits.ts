/** Reads what the adopted allowance of the hub permits now, and what of it is in use. Pure. */
import type { DefenderLedgerSpec, FleetLimit, LedgerAllowance } from '../../api/generated/types.ts';
import { isInFlight } from '../../api/grants.ts';
import { takesNodeDown } from '../ledger/entries.ts';
import { countWithin, rateKey } from '../ledger/rates.ts';
import type { Act } from '../policies/matches.ts';

/** No DefenderPolicy has this name, so that its counters are never mixed with those of a policy. */
const COUNTED_UNDER = '~fleet';

export const FLEET_WINDOW_SECONDS = 3600;

export function fleetRateKey({ id }: Pick<FleetLimit, 'id'>): string {
  return rateKey(COUNTED_UNDER, id, '');
}

/** The hub states the period of every rate. */
export function windowOf({ windowSeconds = FLEET_WINDOW_SECONDS }: FleetLimit): number {
  return windowSeconds;
}

export function isCountedBy({ actions }: Pick<FleetLimit, 'actions'>, { action, risk }: Act): boolean {
  return actions.length === 0 ? takesNodeDown(risk) : (actions as readonly string[]).includes(action);
}

export function isValidAt({ until }: Pick<LedgerAllowance, 'until'>, now: Date): boolean {
  return Date.parse(until) > +now;
}

/** The share while the allowance lasts, and the floor afterwards. */
export function permitted(allowance: LedgerAllowance, { share, floor }: FleetLimit, now: Date): number {
  return isValidAt(allowance, now) ? share : floor;
}

/** Acts within the period; for a limit of acts in work, 1 while any is. */
export function usedOf(
  { grants, rates }: Pick<DefenderLedgerSpec, 'grants' | 'rates'>,
  limit: FleetLimit,
  now: Date,
): number {
  if (limit.kind === 'Rate') return countWithin(rates[fleetRateKey(limit)], windowOf(limit), now);
  return Object.values(grants).some((grant) => isInFlight(grant) && isCountedBy(limit, grant)) ? 1 : 0;
}
