/** The ledger must be complete, and must have room. */
import type { DefenderLedgerSpec } from '../../api/generated/types.ts';
import type { DenialCause } from '../../api/grants.ts';
import { appliesTo } from '../policies/matches.ts';
import { type AskGuard, after, entryOf, type GuardInput } from './guard.ts';

/** Bounds of the maps in the CRD, and of the object (defender.md, section 3). */
export const LEDGER_MAXIMUM = {
  grants: 512,
  gone: 512,
  rates: 128,
  breakers: 64,
  approvals: 64,
  bytes: 384 * 1024,
} as const;
/** The last fifth is kept for acts that bring machines back. */
const NEAR_FULL = 0.8;
/** The longest life of a grant: after it, an unrecorded grant permits nothing. */
export const RECOVERY_SECONDS = 300;

export const ledgerRecovering: AskGuard = {
  id: 'ledger-recovering',
  skippedByRecovery: false,
  checkedAtRenewal: true,
  check: checkRecovering,
};

export const ledgerFull: AskGuard = {
  id: 'ledger-full',
  skippedByRecovery: false,
  checkedAtRenewal: false,
  check: checkFull,
};

function checkRecovering({ ledger, now }: GuardInput): readonly DenialCause[] {
  if (!ledger.recovering) return [];
  const until = after(ledger.recoveringSince ?? now, RECOVERY_SECONDS);
  const message = `the ledger was lost or restored, and recovers until ${until.toISOString()}`;
  return [{ reason: 'LedgerRecovering', message, until }];
}

function checkFull(input: GuardInput): readonly DenialCause[] {
  const { ledger, ask } = input;
  const share = ask.risk === 'None' ? NEAR_FULL : 1;
  const isReplaced = entryOf(input) !== undefined;
  const used = { grants: sizeOf(ledger.grants) - (isReplaced ? 1 : 0), gone: sizeOf(ledger.gone) };
  const full = (['grants', 'gone'] as const).filter((map) => used[map] >= LEDGER_MAXIMUM[map] * share);
  const causes = full.map((map) => cause(map, used[map], LEDGER_MAXIMUM[map]));
  const rates = sizeOf(ledger.rates) + newRates(input);
  return rates > LEDGER_MAXIMUM.rates ? [...causes, cause('rates', rates, LEDGER_MAXIMUM.rates)] : causes;
}

function cause(map: string, used: number, limit: number): DenialCause {
  const message = `${map} of the ledger: ${used} of ${limit} entries`;
  return { reason: 'LedgerFull', message, key: map, used, limit };
}

/** An upper bound: limits of policies that apply, whose counters may exist already. */
function newRates({ policies, ask, machine, ledger }: GuardInput): number {
  if (sizeOf(ledger.rates) < LEDGER_MAXIMUM.rates / 2) return 0;
  const applying = policies.valid.filter((policy) => appliesTo(policy, ask, machine));
  return applying.reduce((sum, { spec }) => sum + spec.rates.length, 0);
}

function sizeOf(map: DefenderLedgerSpec[keyof DefenderLedgerSpec & ('grants' | 'gone' | 'rates')]): number {
  return Object.keys(map).length;
}
