/** How a breaker opens: for longer each time, and after some trips in a day until a person closes it. Pure. */

import type { Breaker, LedgerBreaker } from '../../api/generated/types.ts';
import { secondsAfter } from '../../os/dates.ts';
import { LEDGER_MAXIMUM } from '../guards/ledger-state.ts';
import { counterKey } from '../ledger/counter-key.ts';
import type { LedgerDraft } from '../ledger/draft.ts';
import { countAct, countWithin } from '../ledger/rates.ts';
import { setRate } from '../ledger/upkeep/bounds.ts';
import { clearCounters } from './counters.ts';

const A_DAY = { windowSeconds: 86_400 };
const MAX_COOLDOWN_SECONDS = 4 * 3600;

export interface Trip {
  /** Key of the breaker in the ledger. */
  readonly id: string;
  readonly breaker: Breaker;
  readonly evidence: string;
}

/** Trips are counted over a day, closings in between included. */
export function tripBreaker(draft: LedgerDraft, { id, breaker, evidence }: Trip, now: Date): void {
  // One more could not be stored. While the map is full, nothing disruptive is granted (`ledgerFull`).
  const isFull = Object.keys(draft.breakers).length >= LEDGER_MAXIMUM.breakers;
  if (isFull && !Object.hasOwn(draft.breakers, id)) return;
  const counter = counterKey(id, 'trips');
  const rate = countAct(draft.rates[counter], A_DAY, now);
  const trips = countWithin(rate, A_DAY.windowSeconds, now);
  clearCounters(draft, id);
  setRate(draft, counter, rate);
  draft.breakers[id] = openBreaker({ breaker, evidence, trips }, now);
  draft.changed = true;
}

function openBreaker(
  { breaker, evidence, trips }: Omit<Trip, 'id'> & { readonly trips: number },
  now: Date,
): LedgerBreaker {
  const since = now.toISOString();
  const shown = { trips, evidence: evidence.slice(0, 128) };
  if (trips >= breaker.manualAfterTrips) return { state: 'NeedsPerson', since, ...shown };
  const seconds = Math.min(MAX_COOLDOWN_SECONDS, breaker.cooldownSeconds * 2 ** (trips - 1));
  return { state: 'Open', since, closesAt: secondsAfter(now, seconds).toISOString(), ...shown };
}
