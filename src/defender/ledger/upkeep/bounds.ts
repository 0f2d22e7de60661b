/** Checks what the server lets the ledger hold. One entry more would make the whole write invalid, with everything else in it. Pure. */
import type { LedgerRate } from '../../../api/generated/types.ts';
import { LEDGER_MAXIMUM } from '../../guards/ledger-state.ts';
import { isCounter } from '../counter-key.ts';
import type { LedgerDraft } from '../draft.ts';

type Entries = Readonly<Record<string, unknown>>;

export function hasRoom(map: Entries, key: string, maximum: number): boolean {
  return Object.hasOwn(map, key) || Object.keys(map).length < maximum;
}

/**
 * Stores a counter. In a full ledger the oldest outcomes without a failure leave, because they open no breaker. Otherwise the
 * counter is not kept: nothing disruptive is granted until there is room (`ledgerFull`).
 */
export function setRate(draft: LedgerDraft, key: string, rate: LedgerRate): void {
  draft.changed = true;
  if (!hasRoom(draft.rates, key, LEDGER_MAXIMUM.rates)) {
    const spare = oldestWithoutFailure(draft.rates);
    if (spare === undefined) return;
    delete draft.rates[spare];
  }
  draft.rates[key] = rate;
}

function oldestWithoutFailure(rates: Readonly<Record<string, LedgerRate>>): string | undefined {
  const spare = Object.entries(rates).filter(
    ([key, { counts }]) => isCounter(key, 'acts') && counts.every((count) => count === 0),
  );
  return spare.toSorted(([, a], [, b]) => Date.parse(a.firstBucketAt) - Date.parse(b.firstBucketAt))[0]?.[0];
}
