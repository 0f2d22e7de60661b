/**
 * Takes an allowance of the hub over into the ledger, with the write that decides by it: afterwards no process of this cluster
 * decides by an older one. Pure.
 */
import type { FleetAllowance, FleetAllowanceSpec, LedgerAllowance } from '../../api/generated/types.ts';
import type { ObservedAllowance } from '../facts/facts.ts';
import type { LedgerDraft } from '../ledger/draft.ts';
import { countAct } from '../ledger/rates.ts';
import { setRate } from '../ledger/upkeep/bounds.ts';
import { fleetRateKey, isValidAt, windowOf } from './limits.ts';

/** Returns whether the ledger changed. */
export function adoptAllowance(draft: LedgerDraft, observed: ObservedAllowance, now: Date): boolean {
  const { allowance: current } = draft;
  if (observed === undefined) return false;
  if (observed === 'None') return dropEnded(draft, now);
  const { spec, status } = observed;
  if (current && !isNewer(spec, current, now)) return false;
  draft.allowance = adopted(spec, now);
  // A ledger that was lost counts on with what was reported before.
  if (!current) for (const limit of spec.limits) restoreCount(draft, limit, used(status, limit.id), now);
  return true;
}

/** A process whose watch is late does not see an allowance yet, so that one leaves only after its end. */
function dropEnded(draft: LedgerDraft, now: Date): boolean {
  if (!draft.allowance || isValidAt(draft.allowance, now)) return false;
  delete draft.allowance;
  return true;
}

/** While an allowance is valid, no other hub replaces it. */
function isNewer(spec: FleetAllowanceSpec, current: LedgerAllowance, now: Date): boolean {
  if (spec.hub !== current.hub) return !isValidAt(current, now);
  return spec.epoch > current.epoch || (spec.epoch === current.epoch && spec.seq > current.seq);
}

function adopted(spec: FleetAllowanceSpec, now: Date): LedgerAllowance {
  const { cluster: _cluster, at: _at, ...taken } = spec;
  return { ...taken, adoptedAt: now.toISOString() };
}

function used(status: FleetAllowance['status'], id: string): number {
  return status?.limits?.find((each) => each.id === id)?.used ?? 0;
}

function restoreCount(
  draft: LedgerDraft,
  limit: FleetAllowanceSpec['limits'][number],
  count: number,
  now: Date,
): void {
  const key = fleetRateKey(limit);
  if (limit.kind !== 'Rate' || Object.hasOwn(draft.rates, key)) return;
  for (let act = 0; act < count; act += 1) {
    setRate(draft, key, countAct(draft.rates[key], { windowSeconds: windowOf(limit) }, now));
  }
}
