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
  rules: 256,
  bytes: 384 * 1024,
} as const;
/** The last fifth is kept for acts that bring machines back. */
const NEAR_FULL = 0.8;
/** The longest life of a grant: after it, an unrecorded grant permits nothing. */
export const RECOVERY_SECONDS = 300;

export const ledgerRecovering: AskGuard = {
  id: 'ledger-recovering',
  reasons: ['LedgerRecovering'],
  proof: { promise: 'an act while the ledger recovers', seed: 5 },
  skippedByRecovery: false,
  checkedAtRenewal: true,
  check: checkRecovering,
};

export const ledgerFull: AskGuard = {
  id: 'ledger-full',
  reasons: ['LedgerFull'],
  proof: { promise: 'more grants than the ledger holds', seed: 6, days: 1, machines: 540 },
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
  const bytes = isSmall(ledger) ? 0 : input.usage.bytes();
  return [
    ...causes,
    ...(rates > LEDGER_MAXIMUM.rates ? [cause('rates', rates, LEDGER_MAXIMUM.rates)] : []),
    ...breakersFull(input),
    ...(bytes >= LEDGER_MAXIMUM.bytes * share ? [cause('bytes', bytes, LEDGER_MAXIMUM.bytes)] : []),
  ];
}

function cause(part: keyof typeof LEDGER_MAXIMUM, used: number, limit: number): DenialCause {
  const message = `${part} of the ledger: ${used} of ${limit}${part === 'bytes' ? '' : ' entries'}`;
  return { reason: 'LedgerFull', message, key: part, used, limit };
}

/** One that opens now could not be stored: nothing disruptive begins until one closes. */
function breakersFull({ ledger, ask }: GuardInput): readonly DenialCause[] {
  const used = sizeOf(ledger.breakers);
  if (ask.risk === 'None' || used < LEDGER_MAXIMUM.breakers) return [];
  return [cause('breakers', used, LEDGER_MAXIMUM.breakers)];
}

/** An entry has at most some 3 KiB, most have a fifth of it. Below this, no ledger is near its bound. */
const SMALL_ENTRIES = 64;

/** Then its bytes need not be counted. */
function isSmall({ grants, gone, rates, approvals, rules = {} }: DefenderLedgerSpec): boolean {
  return [grants, gone, rates, approvals, rules].every((map) => sizeOf(map) < SMALL_ENTRIES);
}

/** An upper bound: counters of limits and breakers of policies that apply; some may exist already. */
function newRates({ policies, ask, machine, ledger }: GuardInput): number {
  if (sizeOf(ledger.rates) < LEDGER_MAXIMUM.rates / 2) return 0;
  const applying = policies.valid.filter((policy) => appliesTo(policy, ask, machine));
  return applying.reduce((sum, { spec }) => sum + spec.rates.length + 2 * spec.breakers.length, 0);
}

function sizeOf(map: Readonly<Record<string, unknown>>): number {
  return Object.keys(map).length;
}
