/**
 * After a storm: when a breaker by UnhealthyRatio closes, one act at a time is allowed in its group, and twice as many after each
 * verified act. It ends when a limit of the policy is tighter, or after a day. Pure.
 */
import type { Breaker, LedgerGrant, LedgerRate } from '../../api/generated/types.ts';
import { counterKey } from '../ledger/counter-key.ts';
import type { LedgerDraft } from '../ledger/draft.ts';
import { clearCounters, counterValue, setCounter } from './counters.ts';

/** As many acts as the ledger can hold: the allowance limits nothing any more. */
const UNLIMITED = 512;

export function beginCooldown(draft: LedgerDraft, id: string, { type }: Breaker, now: Date): void {
  if (type === 'UnhealthyRatio') setCounter(draft, counterKey(id, 'storm'), 1, now);
}

/** Undefined: no storm ended here within a day. */
export function stormAllowance(
  rates: Readonly<Record<string, LedgerRate>>,
  id: string,
  now: Date,
): number | undefined {
  return counterValue(rates, counterKey(id, 'storm'), now);
}

/** Doubles with a verified act, begins again with a failed one. */
export function countInCooldown(
  draft: LedgerDraft,
  id: string,
  outcome: NonNullable<LedgerGrant['outcome']>,
  now: Date,
): void {
  const allowed = stormAllowance(draft.rates, id, now);
  if (allowed === undefined || outcome === 'Unused') return;
  const next = outcome === 'Succeeded' ? allowed * 2 : 1;
  if (next >= UNLIMITED) clearCounters(draft, id);
  else setCounter(draft, counterKey(id, 'storm'), next, now);
  draft.changed = true;
}
